# SPDX-License-Identifier: Apache-2.0
"""
Rewards of measured times: equal ratios of times give equal differences of rewards.

A reward is the logarithm of the speed relative to a schedule `_SLOWEST` times slower than the
default. Slower schedules, and those without a time, have reward 0, as their order does not matter.
"""

from math import log

from tilewright.tuning.measurement import Measurement

_SLOWEST = 2
"""Ratio to the default time from which on all schedules have reward 0."""


class Rewards:
    """Converter of measurements to rewards, relative to the first measurement with a time."""

    def __init__(self) -> None:
        self._first_us: float | None = None
        self.best = log(_SLOWEST)
        """Highest reward so far; at least that of the first schedule."""

    def of(self, measurement: Measurement) -> float:
        """Return the reward of a measurement, at least 0; faster schedules have a higher one."""
        if measurement.us is None:
            return 0.0
        if self._first_us is None:
            self._first_us = measurement.us
        reward = max(0.0, log(_SLOWEST * self._first_us / measurement.us))
        self.best = max(self.best, reward)
        return reward
