# SPDX-License-Identifier: Apache-2.0
"""
What a time is worth: of a schedule twice as fast, as much more whatever it is twice as fast as.

A reward is the logarithm of how much faster than the default a schedule is. What is `_SLOWEST`
times as slow, or cannot be had, is worth nothing; how bad it is beyond that is of no interest.
"""

from math import log

from tilewright.tuning.measurement import Measurement

_SLOWEST = 2
"""Schedules that are worth a look lie closer together; the others are alike to a search."""


class Rewards:
    """Turns measurements into rewards, relative to the first."""

    def __init__(self) -> None:
        self._first_us: float | None = None
        self.best = log(_SLOWEST)
        """The highest so far, that of the first at least."""

    def of(self, measurement: Measurement) -> float:
        """0 for what is worth nothing; more for what is faster."""
        if measurement.us is None:
            return 0.0
        if self._first_us is None:
            self._first_us = measurement.us
        reward = max(0.0, log(_SLOWEST * self._first_us / measurement.us))
        self.best = max(self.best, reward)
        return reward
