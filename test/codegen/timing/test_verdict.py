# SPDX-License-Identifier: Apache-2.0
"""Conditions under which a ratio of times is reported."""

import pytest

from tilewright.codegen.timing.samples import Timing
from tilewright.codegen.timing.verdict import SAME, Result, Verdict, best, verdict


def took(us: float, aa: float = 0.1, problem: str = "", least: float = 1.0) -> Result:
    """Return the result of a contestant that took `us` microseconds."""
    return Result(Timing(us, 0.5, aa, 20), problem, least)


@pytest.mark.parametrize(
    ("ours", "other", "expected"),
    [
        (took(10), took(20), Verdict(2.0)),
        (took(20), took(10), Verdict(0.5)),  # losses are reported as wins are
        (took(10), took(10.1), Verdict(None, SAME)),
        (took(10, aa=0), took(10, aa=0), Verdict(None, SAME)),
        (took(10, aa=3), took(12), Verdict(None, SAME)),  # ours differs from itself by more
        (took(10), took(12, aa=3), Verdict(None, SAME)),
        (took(10, aa=3), took(14), Verdict(1.4)),
        (took(10, problem="wrong: 3"), took(20), Verdict(None, "ours: wrong: 3")),
        (took(10), took(20, problem="wrong: 3"), Verdict(None, "the other: wrong: 3")),
        (Result(None, "failed: x"), took(20), Verdict(None, "ours: failed: x")),
        (took(10), Result(None), Verdict(None, "the other: not measured")),
        (took(10), Result(None, "killed"), Verdict(None, "the other: killed")),
        (
            took(0.5),
            took(20),
            Verdict(None, "ours: 0.50 us is not possible: 1.00 us is the least"),
        ),
        (
            took(10),
            took(7, least=7.5),
            Verdict(None, "the other: 7.00 us is not possible: 7.50 us is the least"),
        ),
        (took(1.0), took(2.0), Verdict(2.0)),  # a time equal to the least possible is valid
    ],
)
def test_verdicts(ours: Result, other: Result, expected: Verdict) -> None:
    assert verdict(ours, other) == expected
    assert expected.is_same == (expected.reason == SAME)


def test_the_best_is_one_that_counts() -> None:
    results = {
        "a": took(5, problem="wrong: 1"),
        "b": took(0.5),
        "c": took(9),
        "d": took(8),
        "e": Result(None),
    }
    assert best(results) == "d"
    assert best({"a": results["a"], "e": results["e"]}) is None
    assert best({}) is None
