# SPDX-License-Identifier: Apache-2.0
"""What a clock has to do for a measurement; on a GPU it is CUDA events, in tests a script."""

from collections.abc import Callable, Sequence
from typing import Protocol

Replay = Callable[[], None]
"""Queues what is measured, once more."""


class Timer(Protocol):
    """A clock."""

    def times(self, replays: Sequence[Replay]) -> list[float]:
        """Queue all of them, one after the other, and wait; microseconds that each took."""
        ...
