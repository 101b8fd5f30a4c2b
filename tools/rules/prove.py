# SPDX-License-Identifier: Apache-2.0
"""
Search for matches of a rule, and a judgement on each.

Programs are those of the corpus first, then random ones (`drawn.py`). A search depends on its
limits alone.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tilewright.dialects.prim import Prim
from tilewright.tools.rules.applied import applications
from tilewright.tools.rules.conditions import Condition, condition
from tilewright.tools.rules.corpus import programs_with
from tilewright.tools.rules.drawn import drawn_program, draws
from tilewright.tools.rules.facts import facts_of, is_empty
from tilewright.tools.rules.hints import hints_of
from tilewright.tools.rules.judge import Finding, Judgement, Kind
from tilewright.tools.rules.rule import Rule, op_at
from tilewright.tools.rules.shrink import can_shrink, shrunk

_ALIKE = 2
"""Number of matches with the same facts that are judged."""


_ROUNDS = 4
"""Most times that a condition is proposed, and tried on matches that it accepts."""


class Limits(NamedTuple):
    """Limits of a search."""

    matches: int = 60
    """Number of matches that are judged."""
    programs: int = 3000
    """Number of random programs that are drawn."""
    texts: int = 60
    """Number of texts of the corpus that are read."""
    real: bool = False
    """True to compare functions of real numbers, without adversarial floats."""
    first: bool = False
    """True to stop at the first counterexample."""


@dataclass(frozen=True)
class Match:
    """Match of a rule in a program, before it is applied."""

    program: ModuleOp
    origin: str
    site: int
    judgement: Judgement
    facts: frozenset[str]


@dataclass
class Proof:
    """Answer about a rule."""

    rule: Rule
    limits: Limits
    matches: list[Match] = field(default_factory=list[Match])
    """Matches that could be judged."""
    unknown: int = 0
    """Number of matches that could not run."""
    texts: int = 0
    """Number of programs of the corpus that were tried."""
    programs: int = 0
    """Number of random programs that were tried."""
    smallest: Match | None = None
    """Shrunk match that is wrong."""
    _seen: Counter[frozenset[str]] = field(default_factory=Counter[frozenset[str]])

    def is_new(self, facts: frozenset[str]) -> bool:
        """True for the first two sites with these facts."""
        self._seen[facts] += 1
        return self._seen[facts] <= _ALIKE

    @property
    def wrong(self) -> list[Match]:
        """Matches that are wrong."""
        return [each for each in self.matches if each.judgement.finding is not None]

    @property
    def right(self) -> list[Match]:
        """Matches that are not refuted."""
        return [each for each in self.matches if each.judgement.finding is None]

    @property
    def kinds(self) -> Counter[Kind]:
        """Number of right matches by the numbers for which they are equal."""
        return Counter(each.judgement.kind for each in self.matches if each.judgement.kind)

    @property
    def is_special(self) -> bool:
        """True if the rule is wrong for adversarial floats only."""
        findings = [each.judgement.finding for each in self.wrong]
        return bool(findings) and all(each is not None and each.is_special for each in findings)

    def is_complete(self, matches: int) -> bool:
        """True if no more than the given number of matches is needed."""
        is_refuted = self.limits.first and self.wrong
        return bool(is_refuted) or max(len(self.matches), self.unknown) >= matches

    @property
    def condition(self) -> Condition | None:
        """Condition that excludes the wrong matches; None if there is none."""
        right, wrong = ([each.facts for each in kind] for kind in (self.right, self.wrong))
        return condition(right, wrong) if wrong and not self.limits.first else None


def proof_of(
    rule: Rule, limits: Limits, report: Callable[[str], None] = lambda text: None
) -> Proof:
    """Return the answer about a rule; `report` is called with each step of the search."""
    proof = Proof(rule, limits)
    for origin, program in programs_with(rule.roots, limits.texts if limits.texts else 0):
        proof.texts += 1
        report(f"{rule.name}: {origin}")
        _add_matches(proof, program, origin, limits.matches // 2)
        if proof.is_complete(limits.matches // 2):
            break
    programs = _random_programs(proof, report)
    for program in programs:
        _add_matches(proof, program, "a random program", limits.matches)
        if proof.is_complete(limits.matches):
            break
    if proof.wrong:
        _try_conditions(proof)
        report(f"{rule.name}: shrinks a counterexample")
        proof.smallest = _smallest(proof)
    return proof


def _random_programs(proof: Proof, report: Callable[[str], None]) -> Iterator[ModuleOp]:
    roots = _roots(proof.rule)
    hints = hints_of(proof.rule.pattern)
    for number in range(proof.limits.programs if roots else 0):
        proof.programs += 1
        report(f"{proof.rule.name}: random program {proof.programs}")
        yield drawn_program(number, roots[number % len(roots)], hints)


def _roots(rule: Rule) -> list[type[Operation]]:
    return [op for op in rule.roots or tuple(Prim.operations) if draws(op)]


def _try_conditions(proof: Proof) -> None:
    """
    Judge further matches that satisfy the proposed condition, until it excludes all wrong ones or
    the rounds are used up.
    """
    roots, hints = _roots(proof.rule), hints_of(proof.rule.pattern)
    number = proof.limits.programs
    for _ in range(_ROUNDS):
        if (found := proof.condition) is None:
            return
        wrong, goal = len(proof.wrong), len(proof.matches) + proof.limits.matches // 2
        for number in range(number + 1, number + 1 + proof.limits.programs // _ROUNDS):
            if not roots or len(proof.matches) >= goal or len(proof.wrong) > wrong:
                break
            program = drawn_program(number, roots[number % len(roots)], hints)
            _add_matches(proof, program, "a random program", goal, found.holds)
        if len(proof.wrong) == wrong:
            return


def _add_matches(
    proof: Proof,
    program: ModuleOp,
    origin: str,
    most: int,
    is_wanted: Callable[[frozenset[str]], bool] = lambda facts: True,
) -> None:
    """Judge the matches in a program with certain facts, until there are `most` of them."""
    for application in applications(proof.rule, program):
        if proof.is_complete(most):
            return
        site = op_at(program, application.site)
        facts = facts_of(site)
        is_new = not is_empty(site) and is_wanted(facts) and proof.is_new(facts)
        if application.failure is None and not is_new:
            continue
        judgement = application.judged(program, real=proof.limits.real)
        if not judgement.is_known:
            proof.unknown += 1
            continue
        proof.matches.append(Match(program, origin, application.site, judgement, facts))


def _smallest(proof: Proof) -> Match:
    """Return the smallest wrong match, shrunk if it is in Tensor IR."""
    wrong = min(proof.wrong, key=_size)
    if not can_shrink(wrong.program):
        return wrong

    def found(program: ModuleOp) -> Match | None:
        for application in applications(proof.rule, program):
            judgement = application.judged(program, real=proof.limits.real)
            match = Match(program, wrong.origin, application.site, judgement, frozenset())
            if judgement.finding is not None and _is_special(match) == _is_special(wrong):
                return match
        return None

    program = shrunk(wrong.program, lambda smaller: found(smaller) is not None)
    return found(program) or wrong


def _size(match: Match) -> tuple[bool, int]:
    """Return the order of counterexamples: those for ordinary numbers first, then small ones."""
    return _is_special(match), sum(1 for _ in match.program.walk())


def _is_special(match: Match) -> bool:
    finding: Finding | None = match.judgement.finding
    return finding is not None and finding.is_special
