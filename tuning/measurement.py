# SPDX-License-Identifier: Apache-2.0
"""What a schedule came to, whoever looked at it."""

from typing import NamedTuple


class Measurement(NamedTuple):
    """A schedule of a kernel, and how long the kernel takes with it."""

    schedule: str
    """The pipeline string that makes the kernel."""
    us: float | None
    """Microseconds; None where it cannot be done so, or does not give what it should."""
    problem: str = ""
    """Why there is no time."""
    spread_us: float = 0.0
    """Between the quartiles of repeated measurements; of a model 0."""

    def is_as_fast_as(self, other: "Measurement") -> bool:
        """
        True if times differ by noise at most: from the quartiles of one to those of the other there
        is no gap. What has no time is as fast as nothing.
        """
        if self.us is None or other.us is None:
            return False
        return abs(self.us - other.us) <= (self.spread_us + other.spread_us) / 2
