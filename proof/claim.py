# SPDX-License-Identifier: Apache-2.0
"""
Obligations without existential quantifiers: at every point with the given facts, a claim is true.

z3 searches for a point at which the facts are true and the claim is false.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.ir.affine import AffineExpr

from tilewright.proof.answer import PROVED, Answer, Obligation, Outcome, point_text
from tilewright.proof.formulas import All, Formula, Not, Variables, holds
from tilewright.proof.smtlib import script
from tilewright.proof.solver import Found, Solver


@dataclass(frozen=True)
class Claim(Obligation):
    """Statement that `claim` is true at every point where `steps` and `given` are true."""

    variables: Variables
    steps: Sequence[Formula]
    """Conditions under which the ops act. A claim about ops that never act proves nothing."""
    claim: Formula
    given: Sequence[Formula] = ()
    """Further conditions, which may exclude each other."""
    shown: Mapping[str, AffineExpr] = field(default_factory=dict[str, AffineExpr])
    """Expressions that a refutation shows, by name."""
    is_of_data: bool = False
    """True if variables stand for data. A point has values of theirs that no input may have."""

    @property
    def question(self) -> Sequence[Formula]:
        """Formulas that no point satisfies, if the claim is true."""
        return [*self.steps, *self.given, Not(self.claim)]

    def decide(self, solver: Solver) -> Answer:
        names = self.variables.names
        if (idle := self._reason_idle(solver)) is not None:
            return self._unknown(idle)
        found = solver.find(names, self.question)
        if found.is_none:
            return PROVED
        if found.values is None:
            return self._unknown(found.reason)
        if not holds(All(self.question), found.values):
            return self._unknown("the solver's point does not satisfy the obligation")
        point = point_text(self.shown, found.values)
        if self.is_of_data:
            return self._unknown(f"depends on data: it fails at {point}, if an input has this data")
        return Answer(Outcome.REFUTED, point)

    def _reason_idle(self, solver: Solver) -> str | None:
        """Reason why the ops do not act at any point, or why this is unknown; None if they act."""
        first = [0] * len(self.variables.names)
        if holds(All(self.steps), first):
            return None
        found: Found = solver.find(self.variables.names, self.steps)
        return "no step reaches it" if found.is_none else found.reason or None

    def _unknown(self, reason: str) -> Answer:
        text = script(self.variables.names, self.question)
        return Answer(Outcome.UNKNOWN, reason, text)
