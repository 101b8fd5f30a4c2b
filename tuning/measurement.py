# SPDX-License-Identifier: Apache-2.0
"""The result of measuring or estimating a schedule."""

from typing import NamedTuple


class Measurement(NamedTuple):
    """A schedule of a kernel, and the time of the kernel with it."""

    schedule: str
    """Pipeline string that makes the kernel."""
    us: float | None
    """Time in microseconds; None if the schedule is not legal or gives wrong results."""
    problem: str = ""
    """Reason why there is no time, or empty."""
    spread_us: float = 0.0
    """Interquartile range of repeated measurements in microseconds; 0 for a model."""

    def is_as_fast_as(self, other: "Measurement") -> bool:
        """
        True if the times differ by noise at most: the interquartile ranges have no gap between
        them. False if one has no time.
        """
        if self.us is None or other.us is None:
            return False
        return abs(self.us - other.us) <= (self.spread_us + other.spread_us) / 2
