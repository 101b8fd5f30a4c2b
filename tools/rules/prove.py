# SPDX-License-Identifier: Apache-2.0
"""
Search for matches of a rule, and a judgement on each.

Programs are those of the corpus first, then random ones (`drawn.py`). A search depends on its
limits alone.
"""

from collections.abc import Callable, Iterator
from functools import partial

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tilewright.dialects.prim import Prim
from tilewright.tools.rules.answer import Match, Proof, rank
from tilewright.tools.rules.applied import applications
from tilewright.tools.rules.corpus import programs_with
from tilewright.tools.rules.drawn import drawn_program, draws
from tilewright.tools.rules.facts import facts_of, is_empty
from tilewright.tools.rules.hints import hints_of
from tilewright.tools.rules.limits import Limits
from tilewright.tools.rules.rule import Rule, op_at
from tilewright.tools.rules.shrink import can_shrink, shrunk

Make = Callable[[], ModuleOp]
"""Function that returns a program anew."""

_MORE_TEXTS = 6
"""Factor on the number of texts for a rule whose op random programs do not have."""

_ROUNDS = 4
"""Most times that a condition is proposed, and tried on matches that it accepts."""


def proof_of(
    rule: Rule, limits: Limits, report: Callable[[str], None] = lambda text: None
) -> Proof:
    """Return the answer about a rule; `report` is called with each step of the search."""
    proof = Proof(rule, limits)
    most = limits.matches // 2 if _roots(rule) else limits.matches
    texts = limits.texts if _roots(rule) else _MORE_TEXTS * limits.texts
    for origin, program in programs_with(rule.roots, texts, rule.pass_name):
        proof.texts += 1
        report(f"{rule.name}: {origin}")
        _add_matches(proof, program.clone, origin, most)
        if proof.is_complete(most):
            break
    for make in _random_programs(proof, report):
        _add_matches(proof, make, "a random program", limits.matches)
        if proof.is_complete(limits.matches):
            break
    if proof.wrong:
        _try_conditions(proof)
        report(f"{rule.name}: shrinks a counterexample")
        proof.smallest = _smallest(proof)
    return proof


def _random_programs(proof: Proof, report: Callable[[str], None]) -> Iterator[Make]:
    roots = _roots(proof.rule)
    hints = hints_of(proof.rule.pattern)
    for number in range(proof.limits.programs if roots else 0):
        proof.programs += 1
        report(f"{proof.rule.name}: random program {proof.programs}")
        yield partial(drawn_program, number, roots[number % len(roots)], hints)


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
            make = partial(drawn_program, number, roots[number % len(roots)], hints)
            _add_matches(proof, make, "a random program", goal, found.holds)
        if len(proof.wrong) == wrong:
            return


def _add_matches(
    proof: Proof,
    make: Make,
    origin: str,
    most: int,
    is_wanted: Callable[[frozenset[str]], bool] = lambda facts: True,
) -> None:
    """
    Judge the matches with certain facts in a program that `make` returns, until there are `most` of
    them.
    """
    for application in applications(proof.rule, make):
        if proof.is_complete(most):
            return
        site = op_at(application.before, application.site)
        facts = facts_of(site)
        is_new = not is_empty(site) and is_wanted(facts) and proof.is_new(facts)
        if application.failure is None and not is_new:
            continue
        judgement = application.judged(real=proof.limits.real)
        if not judgement.is_known:
            proof.unknown += 1
            continue
        match = Match(application.before, origin, application.site, judgement, facts)
        proof.matches.append(match)


def _smallest(proof: Proof) -> Match:
    """Return the smallest wrong match, shrunk if it is in Tensor IR."""
    wrong = min(proof.wrong, key=_size)
    if not can_shrink(wrong.program):
        return wrong

    def found(program: ModuleOp) -> Match | None:
        for application in applications(proof.rule, program.clone):
            judgement = application.judged(real=proof.limits.real)
            match = Match(program, wrong.origin, application.site, judgement, frozenset())
            if judgement.finding is not None and rank(match) == rank(wrong):
                return match
        return None

    program = shrunk(wrong.program, lambda smaller: found(smaller) is not None)
    return found(program) or wrong


def _size(match: Match) -> tuple[int, int]:
    """Return the order of counterexamples: those for real numbers first, then small ones."""
    return rank(match), sum(1 for _ in match.program.walk())
