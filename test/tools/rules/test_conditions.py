# SPDX-License-Identifier: Apache-2.0
"""The condition of a rule excludes all wrong matches, is short, and keeps many right ones."""

from tilewright.tools.rules.conditions import condition


def facts(*names: str) -> frozenset[str]:
    """Return facts that are sentences with a verb."""
    return frozenset(f"{name} is known" for name in names)


def test_one_fact_is_enough():
    found = condition([facts("a", "b"), facts("a"), facts("a", "c")], [facts("b"), facts("c")])
    assert (str(found), found and found.kept) == ("a is known", 3)


def test_a_negation_is_proposed():
    found = condition([facts("a"), facts("b")] * 2, [facts("a", "c"), facts("b", "c")])
    assert str(found) == "c is not known"


def test_facts_are_joined():
    right = [facts("a", "b")] * 3
    found = condition(right, [facts("a"), facts("b")])
    assert str(found) == "a is known, and b is known"
    assert found is not None
    assert found.holds(facts("a", "b", "c"))
    assert not found.holds(facts("a", "c"))


def test_there_is_none_if_equal_facts_are_right_and_wrong():
    assert condition([facts("a")], [facts("a")]) is None
    assert condition([], [facts("a")]) is None


def test_two_matches_show_too_little():
    assert condition([facts("a"), facts("a")], [facts("b")]) is None
