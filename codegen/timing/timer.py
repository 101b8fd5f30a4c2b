# SPDX-License-Identifier: Apache-2.0
"""Interface of a clock for measurements; on a GPU it is CUDA events, in tests a script."""

from collections.abc import Callable, Sequence
from typing import Protocol

Replay = Callable[[], None]
"""Function that queues the measured work once."""


class Timer(Protocol):
    """Clock for replays."""

    def times(self, replays: Sequence[Replay]) -> list[float]:
        """
        Queue all replays, one after the other, wait for them, and return the microseconds of each.
        """
        ...
