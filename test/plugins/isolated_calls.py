# SPDX-License-Identifier: Apache-2.0
"""Calls for a process of an `IsolatedExecutor`, which are found by their names."""

from tilewright.tuning.executors.child import SpoiledError, tell


def cannot_go_on(why: str) -> None:
    """What breaks a device."""
    tell("breaking")
    raise SpoiledError(why)
