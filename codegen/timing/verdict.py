# SPDX-License-Identifier: Apache-2.0
"""
Verdict on which of two contestants is faster: a function of their results alone.

There is no ratio if a result is wrong or missing, if a time is shorter than is possible, or if
noise exceeds the difference.
"""

from typing import NamedTuple

from tilewright.codegen.timing.samples import Timing

SAME = "the same: the difference is within the noise"


class Result(NamedTuple):
    """Result of one contestant."""

    timing: Timing | None
    """Measured time; None if it was not measured."""
    problem: str = ""
    """
    Reason why the contestant was not measured or its time does not count: wrong results, or a
    failure. Empty if there is none.
    """
    least_us: float = 0.0
    """
    Minimum time that is possible for the work, in microseconds; a shorter measured time does not
    count.
    """

    @property
    def reason_against(self) -> str:
        """Reason why the measured time does not count, or an empty text."""
        if self.problem:
            return self.problem
        if self.timing is None:
            return "not measured"
        if self.timing.us < self.least_us:
            return f"{self.timing.us:.2f} us is not possible: {self.least_us:.2f} us is the least"
        return ""

    @property
    def counted(self) -> Timing | None:
        """Measured time, or None if it does not count."""
        return None if self.reason_against else self.timing


class Verdict(NamedTuple):
    """Comparison of our result with another one."""

    ratio: float | None
    """
    Ratio of the other time to ours: how many times as fast ours is; None if there is a `reason`.
    """
    reason: str = ""
    """Reason why there is no ratio."""

    @property
    def is_same(self) -> bool:
        """True if both results count, and their times are equal within the noise."""
        return self.reason == SAME


def verdict(ours: Result, other: Result) -> Verdict:
    """Return the ratio of the other time to ours, or the reason why there is none."""
    mine, theirs = ours.counted, other.counted
    if mine is None:
        return Verdict(None, f"ours: {ours.reason_against}")
    if theirs is None:
        return Verdict(None, f"the other: {other.reason_against}")
    if abs(mine.us - theirs.us) <= max(mine.aa_us, theirs.aa_us):
        return Verdict(None, SAME)
    return Verdict(theirs.us / mine.us)


def best(results: dict[str, Result]) -> str | None:
    """Return the name of the fastest result whose time counts; None if there is none."""
    valid = {name: time.us for name, r in results.items() if (time := r.counted) is not None}
    return min(valid, key=lambda name: valid[name], default=None)
