# SPDX-License-Identifier: Apache-2.0
"""Functions that a process of an `IsolatedExecutor` finds by name and calls."""

import time

from tilewright.tuning.executors.child import SpoiledError, heartbeat, report_phase


def cannot_go_on(why: str) -> None:
    """Report that a call has broken the device."""
    report_phase("breaking")
    raise SpoiledError(why)


def rest(seconds: float) -> str:
    """Sleep, while the process reports that it is alive."""
    with heartbeat("resting", seconds / 10):
        time.sleep(seconds)
    return "rested"
