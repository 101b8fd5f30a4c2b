# SPDX-License-Identifier: Apache-2.0
"""How often each instruction is executed, by how many lanes of a warp."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tilewright.codegen.simulator.lanes import WARP, Lanes


@dataclass(frozen=True)
class LineVisits:
    """The instructions of one source line: executed by threads, and by warps."""

    line: int
    thread_instructions: int
    warp_instructions: int

    @property
    def active_lanes(self) -> float:
        """Lanes of a warp that execute together, at most 32; predicates are not looked at."""
        return self.thread_instructions / max(1, self.warp_instructions)


class Visits:
    """Counts for a kernel whose instructions come from `lines`."""

    def __init__(self, lines: Sequence[int], enabled: bool):
        self._lines = np.array(lines, np.int64)
        self._enabled = enabled
        self._threads = np.zeros(len(lines) + 1, np.int64)
        self._warps = np.zeros(len(lines) + 1, np.int64)

    def add(self, start: int, end: int, lanes: Lanes) -> None:
        """The lanes execute the instructions from `start` to before `end`."""
        if not self._enabled:
            return
        for counts, count in ((self._threads, lanes.count), (self._warps, _warps(lanes))):
            counts[start] += count
            counts[end] -= count

    def lines(self) -> tuple[LineVisits, ...]:
        """By line; code that names no line counts for line 0."""
        threads, warps = (np.cumsum(x)[:-1] for x in (self._threads, self._warps))
        return tuple(
            LineVisits(line, int(threads[mine].sum()), int(warps[mine].sum()))
            for line in np.unique(self._lines).tolist()
            if threads[mine := self._lines == line].any()
        )


def _warps(lanes: Lanes) -> int:
    if isinstance(lanes.index, slice):
        return (lanes.index.stop - 1) // WARP - lanes.index.start // WARP + 1
    warp = lanes.index // WARP
    return 1 + int(np.count_nonzero(warp[1:] != warp[:-1]))
