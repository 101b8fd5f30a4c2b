# SPDX-License-Identifier: Apache-2.0
"""Calls for a process of an `IsolatedExecutor`, which are found by their names."""

import time

from tilewright.tuning.executors.child import SpoiledError, beating, tell


def cannot_go_on(why: str) -> None:
    """What breaks a device."""
    tell("breaking")
    raise SpoiledError(why)


def rest(seconds: float) -> str:
    """What takes its time."""
    with beating("resting", seconds / 10):
        time.sleep(seconds)
    return "rested"
