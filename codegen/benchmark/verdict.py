# SPDX-License-Identifier: Apache-2.0
"""
When one may be said to be faster than another: a function of two results, and nothing else.

There is no ratio where a result is wrong or missing, where a time is shorter than is possible, or
where noise exceeds the difference.
"""

from typing import NamedTuple

from tilewright.codegen.benchmark.timing import Timing

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
    def why_not(self) -> str:
        """Why its time says nothing; empty if it does."""
        if self.problem:
            return self.problem
        if self.timing is None:
            return "not measured"
        if self.timing.us < self.least_us:
            return f"{self.timing.us:.2f} us is not possible: {self.least_us:.2f} us is the least"
        return ""


class Verdict(NamedTuple):
    """Ours against another."""

    ratio: float | None
    """How many times as fast ours is; None where nothing can be said."""
    reason: str = ""
    """Why there is no ratio."""

    @property
    def is_same(self) -> bool:
        """Whether both are right, and equally fast as far as anyone can tell."""
        return self.reason == SAME


def verdict(ours: Result, other: Result) -> Verdict:
    """Whether ours is faster than the other, and by how much."""
    for name, result in (("ours", ours), ("the other", other)):
        if reason := result.why_not:
            return Verdict(None, f"{name}: {reason}")
    assert ours.timing is not None
    assert other.timing is not None
    noise = max(ours.timing.aa_us, other.timing.aa_us)
    if abs(ours.timing.us - other.timing.us) <= noise:
        return Verdict(None, SAME)
    return Verdict(other.timing.us / ours.timing.us)


def best(results: dict[str, Result]) -> str | None:
    """The name of the fastest of those whose time says something; None if there is none."""
    valid = {n: r.timing.us for n, r in results.items() if not r.why_not and r.timing}
    return min(valid, key=lambda name: valid[name], default=None)
