# SPDX-License-Identifier: Apache-2.0
"""Clocks that warps wait, by reason and by instruction."""

from collections.abc import Mapping, Sequence

from xdsl.utils.str_enum import StrEnum

from tilewright.codegen.report.clock.places import Place


class Wait(StrEnum):
    """Reasons why a warp does not issue its next instruction."""

    MEMORY = "memory"
    """data from global memory, or another block"""
    SHARED = "shared memory"
    """data from shared memory or a shuffle, or room in the memory queue"""
    BARRIER = "barrier"
    PIPE = "pipe"
    """a busy arithmetic unit, or its result"""
    ISSUE = "issue"
    """another warp issues; or a stall count, because the result of fixed latency is not ready"""


class WaitMeter:
    """Clocks that warps wait at each place of the code, by reason."""

    def __init__(self, number_of_places: int):
        self.clocks = {wait: [0.0] * number_of_places for wait in Wait}

    def by_line(
        self, places: Sequence[Place], times: Sequence[float]
    ) -> dict[int, dict[Wait, float]]:
        """
        Return the clocks by source line and reason. A place counts `times` times; reasons without
        clocks are left out.
        """
        found: dict[int, dict[Wait, float]] = {}
        for wait, clocks in self.clocks.items():
            for place, waited, factor in zip(places, clocks, times, strict=True):
                if waited:
                    line = found.setdefault(place.line, {})
                    line[wait] = line.get(wait, 0.0) + waited * factor
        return found


def total(lines: Mapping[int, Mapping[Wait, float]]) -> dict[Wait, float]:
    """Return the clocks of all lines by reason."""
    return {wait: sum(line.get(wait, 0.0) for line in lines.values()) for wait in Wait}
