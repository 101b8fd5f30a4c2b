# SPDX-License-Identifier: Apache-2.0
"""Ten right rules are not refuted, and ten subtly wrong ones are, by small counterexamples."""

from pathlib import Path

import pytest

from tilewright.tools.rules.answer import Proof
from tilewright.tools.rules.limits import Limits
from tilewright.tools.rules.named import rules_named
from tilewright.tools.rules.prove import proof_of
from tilewright.tools.rules.rule import Rule

FOLDER = Path(__file__).parent
RIGHT = rules_named(str(FOLDER / "right_rules.py"))
WRONG = rules_named(str(FOLDER / "wrong_rules.py"))

QUICK = Limits(matches=8, programs=1500, texts=0, first=True)
LONG = QUICK._replace(matches=40)
"""Limits for rules of which few matches are wrong."""

CONDITIONS = {
    "ZeroTimes": "operand 0 is an integer",
    "SelfDifference": "operand 0 is an integer",
    "SwappedSelect": "operand 1 is operand 2",
    "ComposedBackwards": "the map of operand 0 is the identity",
}
"""Conditions under which wrong rules are right."""


def test_there_are_ten_of_each():
    assert (len(RIGHT), len(WRONG)) == (10, 10)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("rule", RIGHT, ids=lambda rule: rule.name)
def test_a_right_rule_is_not_refuted(rule: Rule):
    proof = proof_of(rule, QUICK)
    assert not proof.wrong, proof.wrong[0].judgement
    assert len(proof.matches) == QUICK.matches


@pytest.mark.parametrize("rule", WRONG, ids=lambda rule: rule.name)
def test_a_wrong_rule_is_refuted_in_a_small_program(rule: Rule):
    proof = proof_of(rule, LONG)
    assert proof.wrong
    assert proof.smallest is not None
    assert sum(1 for _ in proof.smallest.program.walk()) <= 8


@pytest.mark.parametrize("name", CONDITIONS)
def test_the_condition_excludes_what_is_wrong(name: str, every_case: None):
    assert str(_proof(name, Limits(texts=0)).condition) == CONDITIONS[name]


def test_a_condition_is_tried_on_further_matches():
    proof = _proof("SelfDifference", Limits(matches=20, programs=600, texts=0))
    assert str(proof.condition) == "operand 0 is an integer"
    assert len(proof.matches) > 20
    assert proof.condition is not None
    assert not any(proof.condition.holds(each.facts) for each in proof.wrong)


def test_a_rule_of_real_numbers_is_right_without_adversarial_floats():
    limits = Limits(matches=12, programs=600, texts=0, real=True)
    assert not _proof("SelfDifference", limits).wrong
    assert _proof("RootOfSquare", limits._replace(programs=1500)).wrong


def test_a_rule_matches_in_the_corpus():
    (rule,) = rules_named("tilewright.passes.decompose.expand_scatter:ExpandScatter")
    proof = proof_of(rule, Limits(matches=4, programs=0, texts=8))
    assert len(proof.right) == len(proof.matches) > 0
    assert all(match.origin.endswith(".mlir") for match in proof.matches)


def _proof(name: str, limits: Limits) -> Proof:
    return proof_of(next(rule for rule in WRONG if rule.name == name), limits)
