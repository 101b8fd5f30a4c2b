# SPDX-License-Identifier: Apache-2.0
"""Accesses to shared memory as the race detector compares them: lanes, cells and byte ranges."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tilewright.codegen.simulator.lanes import Integers


@dataclass(frozen=True)
class Touch:
    """
    Access of one instruction to shared memory.

    `offsets` are bytes within the batch, one per lane; `low` and `high` bound the bytes within a
    block. A bulk copy touches many places by one lane, which `lanes` then repeats.
    """

    lanes: Integers
    offsets: Integers
    size: int
    granule: int
    low: int
    high: int
    line: int

    @cached_property
    def cells(self) -> Integers:
        """
        Cells of each lane, of shape (lanes, cells per lane); computed only when accesses meet.
        """
        first = self.offsets // self.granule
        return first[:, None] + np.arange(max(1, self.size // self.granule))

    @cached_property
    def lanes_of_cells(self) -> Integers:
        """Lanes, repeated for each of their cells, in the order of `cells.ravel()`."""
        return np.repeat(self.lanes, self.cells.shape[1])

    def near(self, other: "Touch") -> bool:
        """
        True if the byte ranges of two accesses within a block overlap, so that they may touch the
        same place.
        """
        return self.low < other.high and other.low < self.high

    @cached_property
    def _ascends(self) -> bool:
        return bool((np.diff(self.lanes) >= 0).all())

    def rows_of(self, lanes: range) -> slice:
        """
        Return a slice of the rows of this access that belong to a range of lanes; all rows if the
        lanes are not ascending.
        """
        if not self._ascends:
            return slice(0, len(self.lanes))
        return slice(*np.searchsorted(self.lanes, [lanes.start, lanes.stop]).tolist())

    @staticmethod
    def joined(touches: "Sequence[Touch]") -> "Touch":
        """Return one access for the places that several lanes touch by one instruction."""
        return replace(
            touches[0],
            lanes=np.concatenate([touch.lanes for touch in touches]),
            offsets=np.concatenate([touch.offsets for touch in touches]),
            low=min(touch.low for touch in touches),
            high=max(touch.high for touch in touches),
        )


class Near:
    """Byte ranges of earlier accesses: for each source line, one range that encloses them all."""

    def __init__(self) -> None:
        self._hulls: dict[int, tuple[int, int]] = {}

    def add(self, touch: Touch) -> None:
        low, high = self._hulls.get(touch.line, (touch.low, touch.high))
        self._hulls[touch.line] = (min(low, touch.low), max(high, touch.high))

    def lines(self, touch: Touch) -> list[int]:
        """Return the source lines of earlier accesses that may overlap `touch`."""
        return [
            line
            for line, (low, high) in self._hulls.items()
            if low < touch.high and touch.low < high
        ]
