# SPDX-License-Identifier: Apache-2.0
"""
Obligations "for every element there is a step that fills it", without a quantifier.

A step is guessed from the element, and the solver searches for an element that no guess fills. At
that element it then searches for any step: without one the obligation is refuted, and with one
there are more guesses.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.ir.affine import AffineExpr

from tilewright.dialects.index import linearize
from tilewright.proof.answer import PROVED, Answer, Obligation, Outcome, point_text
from tilewright.proof.digits import digits, groups
from tilewright.proof.formulas import (
    All,
    Formula,
    IsZero,
    NonNegative,
    Not,
    Some,
    Variables,
    constant,
    replaced,
    within,
)
from tilewright.proof.scope import with_values
from tilewright.proof.smtlib import script
from tilewright.proof.solver import Solver

_ROUNDS = 32
"""Most elements at which a step is searched for, because the guesses miss them."""


class Way(NamedTuple):
    """An op that fills elements: one at each step of its axes."""

    axes: Sequence[int]
    """Variables whose steps are chosen."""
    subscripts: Sequence[AffineExpr]
    conditions: Sequence[Formula]
    """Conditions under which the step fills the element at `subscripts`."""


@dataclass(frozen=True)
class Covering(Obligation):
    """Statement that each element of a memory of `shape` is filled in one of several ways."""

    variables: Variables
    shape: Sequence[int]
    element: Sequence[AffineExpr]
    """Variables that are the subscripts of the element."""
    given: Sequence[Formula]
    """Facts of the element, and of variables that are not chosen."""
    ways: Sequence[Way]
    outer: Sequence[AffineExpr] = ()
    """Variables with a given step: the element has to be filled at each of their steps."""

    def decide(self, solver: Solver) -> Answer:
        guesses = [guess for way in self.ways for guess in self._first_guesses(way)]
        names = self.variables.names
        for _ in range(_ROUNDS):
            question = [*self.given, Not(Some(guesses))]
            missed = solver.find(names, question)
            if missed.is_none:
                return PROVED
            if missed.values is None:
                return Answer(Outcome.UNKNOWN, missed.reason, script(names, question))
            more, reason = self._guesses_at(missed.values, solver)
            if reason:
                return Answer(Outcome.UNKNOWN, reason, script(names, question))
            if not more:
                shown = self.variables.named([*self.outer, *self.element])
                return Answer(Outcome.REFUTED, point_text(shown, missed.values))
            guesses += more
        reason = "no rule was found that gives the step of each element"
        return Answer(Outcome.UNKNOWN, reason, script(names, [*self.given, Not(Some(guesses))]))

    def _filled(self, way: Way) -> Formula:
        numbers = groups(way.subscripts, {*way.axes})
        return All([*way.conditions, *(self._is_at(way, members) for members in numbers)])

    def _is_at(self, way: Way, members: Sequence[int]) -> Formula:
        """
        Return the condition that some subscripts are the element's, which is within its axes.

        Subscripts within their axes are equal if they are one number in row-major order. For the
        outermost one this follows from the others.
        """
        subscripts = [way.subscripts[at] for at in members]
        element, sizes = [self.element[at] for at in members], [self.shape[at] for at in members]
        inner = within(subscripts[1:], sizes[1:])
        number, expected = linearize(subscripts, sizes), linearize(element, sizes)
        return All((inner, IsZero(number - expected)))

    def _first_guesses(self, way: Way) -> Sequence[Formula]:
        """Return guesses in which axes that the element does not determine have an end's step."""
        ranges = self.variables.ranges
        ends = ([ranges[at].low for at in way.axes], [ranges[at].high for at in way.axes])
        return [self._guess(way, steps) for steps in ends]

    def _guess(
        self, way: Way, others: Sequence[int], bounded: Sequence[AffineExpr] = ()
    ) -> Formula:
        """Return the condition that the step read from the element fills it."""
        ranges = self.variables.ranges
        read = digits(way.subscripts, self.element, self.shape, ranges, way.axes, bounded)
        steps = zip(way.axes, map(constant, others), strict=True)
        return self._with_steps(way, {at: read.get(at, other) for at, other in steps})

    def _at_step(self, way: Way, steps: Sequence[int]) -> Formula:
        """Return the condition that one given step fills the element."""
        return self._with_steps(way, dict(zip(way.axes, map(constant, steps), strict=True)))

    def _with_steps(self, way: Way, chosen: Mapping[int, AffineExpr]) -> Formula:
        return replaced(self._filled(way), with_values(self.variables, chosen))

    def _guesses_at(self, missed: Sequence[int], solver: Solver) -> tuple[Sequence[Formula], str]:
        """
        Return guesses that fill the element `missed`; none if no step does. The text is the reason
        why this is unknown.
        """
        fixed = [*self.element, *self.outer]
        here = [IsZero(expr - expr.eval(missed, ())) for expr in fixed]
        for way in self.ways:
            found = solver.find(self.variables.names, [*self.given, *here, self._filled(way)])
            if found.reason:
                return (), found.reason
            if found.values is not None:
                steps = [found.values[at] for at in way.axes]
                guesses = [self._guess(way, steps, bounded) for bounded in ((), _bounded(way))]
                return [*guesses, self._at_step(way, steps)], ""
        return (), ""


def _bounded(way: Way) -> Sequence[AffineExpr]:
    """Return the sums for which a condition of the way gives a highest value."""
    return [constant(0) - each.expr for each in way.conditions if isinstance(each, NonNegative)]
