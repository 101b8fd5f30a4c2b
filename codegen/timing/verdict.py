# SPDX-License-Identifier: Apache-2.0
"""
When one may be said to be faster than another: a function of two results, and nothing else.

There is no ratio where a result is wrong or missing, where a time is shorter than is possible, or
where noise exceeds the difference.
"""

from typing import NamedTuple

from tilewright.codegen.timing.samples import Timing

SAME = "the same: the difference is within the noise"


class Result(NamedTuple):
    """What came of one contestant."""

    timing: Timing | None
    """None where it was not measured."""
    problem: str = ""
    """Why it was not, or does not count: what is wrong with its results, or that it failed."""
    least_us: float = 0.0
    """A shorter time is not possible."""

    @property
    def reason_against(self) -> str:
        """Reason why the time does not count, or an empty text."""
        if self.problem:
            return self.problem
        if self.timing is None:
            return "not measured"
        if self.timing.us < self.least_us:
            return f"{self.timing.us:.2f} us is not possible: {self.least_us:.2f} us is the least"
        return ""

    @property
    def counted(self) -> Timing | None:
        """Its time, if that says something."""
        return None if self.reason_against else self.timing


class Verdict(NamedTuple):
    """Ours against another."""

    ratio: float | None
    """How many times as fast ours is; None where nothing can be said."""
    reason: str = ""
    """Why there is no ratio."""

    @property
    def is_same(self) -> bool:
        """True if both are right, and equally fast as far as anyone can tell."""
        return self.reason == SAME


def verdict(ours: Result, other: Result) -> Verdict:
    """Whether ours is faster than the other, and by how much."""
    mine, its = ours.counted, other.counted
    if mine is None:
        return Verdict(None, f"ours: {ours.reason_against}")
    if its is None:
        return Verdict(None, f"the other: {other.reason_against}")
    if abs(mine.us - its.us) <= max(mine.aa_us, its.aa_us):
        return Verdict(None, SAME)
    return Verdict(its.us / mine.us)


def best(results: dict[str, Result]) -> str | None:
    """Return the name of the fastest of those whose time says something; None if there is none."""
    valid = {name: time.us for name, r in results.items() if (time := r.counted) is not None}
    return min(valid, key=lambda name: valid[name], default=None)
