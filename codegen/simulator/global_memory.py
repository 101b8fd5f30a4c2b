# SPDX-License-Identifier: Apache-2.0
"""
Global memory: the arrays of a launch and the variables of its module, at separate addresses.

Arrays lie 64 GB apart, so an access beyond the end of an array never reaches another. The kernel
reads and writes the caller's arrays in place.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tilewright.codegen.simulator.findings import Findings
from tilewright.codegen.simulator.geometry import Geometry
from tilewright.codegen.simulator.global_cells import Cells
from tilewright.codegen.simulator.global_races import BulkRead, GlobalRaces
from tilewright.codegen.simulator.lanes import Integers, Lanes
from tilewright.codegen.simulator.memory import (
    Access,
    AddressReports,
    Block,
    Mode,
    Place,
    aligned,
    choose,
)
from tilewright.codegen.simulator.non_coherent import NonCoherentLoads
from tilewright.codegen.simulator.order import Order
from tilewright.codegen.simulator.wavefronts import SECTOR

_SHIFT = 36
_MIDDLE = 1 << 35
"""
Offset of an array in its 64 GB: it starts in the middle, so that accesses before it are attributed
to it.
"""
_LARGEST_CELL = 4


class Array(Block):
    """
    Array in global memory, whose first byte has the address `base`.

    `what` is its name in findings, `cell` the bytes of a race cell.
    """

    def __init__(self, base: int, data: NDArray[np.uint8], what: str, read_only: bool, cell: int):
        super().__init__(data)
        self.base = base
        self.end = base + len(data)
        self.what = what
        self.read_only = read_only
        self.cells = None if read_only else Cells(what, len(data), cell)
        self.moved: dict[bool, NDArray[np.bool_]] = {}
        """Masks of the sectors that loads (key False) or stores (key True) have touched."""

    def move(self, offsets: Integers, stores: bool) -> None:
        """Record that loads, or stores if `stores` is true, touch the sectors at these offsets."""
        if stores not in self.moved:
            self.moved[stores] = np.zeros(-(-len(self.data) // SECTOR), np.bool_)
        self.moved[stores][offsets // SECTOR] = True

    def covers(self, low: int, high: int) -> bool:
        return self.base <= low and high <= self.end


class GlobalMemory:
    """Arrays and module variables of a launch."""

    def __init__(
        self, geometry: Geometry, order: Order, findings: Findings, complaints: AddressReports
    ):
        self.arrays: dict[int, Array] = {}
        self.checks = True
        self.dry = False
        self.non_coherent: NonCoherentLoads | None = None
        """Checks of non-coherent loads; None if the kernel has none."""
        self.races = GlobalRaces(geometry, order, findings)
        self._complaints = complaints

    def add(
        self, data: NDArray[np.uint8], what: str, read_only: bool, itemsize: int = _LARGEST_CELL
    ) -> int:
        """
        Place an array with elements of `itemsize` bytes in global memory, and return its address.
        """
        number = len(self.arrays) + 1
        base = (number << _SHIFT) + _MIDDLE
        self.arrays[number] = Array(base, data, what, read_only, min(itemsize, _LARGEST_CELL))
        return base

    def minimum_bytes(self) -> int:
        """
        Return the bytes of all touched sectors; a sector that is both loaded and stored counts
        twice.
        """
        moved = [mask for array in self.arrays.values() for mask in array.moved.values()]
        return SECTOR * sum(int(np.count_nonzero(mask)) for mask in moved)

    def array_at(self, address: int) -> Array:
        """Return the array at an address that `add` has returned."""
        return self.arrays[address >> _SHIFT]

    def places(self, lanes: Lanes, addresses: Integers, access: Access) -> Iterator[Place]:
        low, high = int(addresses.min()), int(addresses.max())
        array = self.arrays.get(low >> _SHIFT)
        if array and array.covers(low, high + access.size) and aligned(addresses, access.size):
            yield from self._allowed(array, lanes, addresses, access)
        else:
            yield from self._one_by_one(lanes, addresses, access)

    def _one_by_one(self, lanes: Lanes, addresses: Integers, access: Access) -> Iterator[Place]:
        which = addresses >> _SHIFT
        for number in np.unique(which).tolist():
            chosen = which == number
            array = self.arrays.get(number)
            if array is None:
                first = int(np.argmax(chosen))
                lane, address = int(lanes.numbers()[first]), int(addresses[first])
                self._complaints.wild(lane, address, access)
                continue
            inside = chosen & (addresses >= array.base) & (addresses + access.size <= array.end)
            is_aligned = addresses % access.size == 0
            self._report_invalid(
                array, lanes, addresses, access, chosen & ~inside, inside & ~is_aligned
            )
            good = inside & is_aligned
            if good.any():
                yield from self._allowed(array, choose(lanes, good), addresses[good], access)

    def _report_invalid(
        self,
        array: Array,
        lanes: Lanes,
        addresses: Integers,
        access: Access,
        outside: NDArray[np.bool_],
        misaligned: NDArray[np.bool_],
    ) -> None:
        numbers = lanes.numbers()
        if outside.any():
            first = int(np.argmax(outside))
            offset = int(addresses[first]) - array.base
            self._complaints.out_of_bounds(
                int(numbers[first]), offset, access, array.what, len(array.data)
            )
        if misaligned.any():
            first = int(np.argmax(misaligned))
            offset = int(addresses[first]) - array.base
            self._complaints.misaligned(int(numbers[first]), offset, access, array.what)

    def _allowed(
        self, array: Array, lanes: Lanes, addresses: Integers, access: Access
    ) -> Iterator[Place]:
        offsets = addresses - array.base
        if access.mode in (Mode.STORE, Mode.ATOMIC):
            if array.read_only:
                lane = int(lanes.numbers()[0])
                self._complaints.read_only(lane, access, array.what)
                return
            if self.dry:
                return
        if self.checks:
            array.move(offsets, access.mode not in (Mode.LOAD, Mode.PULL, Mode.SOURCE))
            if self.non_coherent is not None:
                where = array.base, len(array.data), array.what
                self.non_coherent.check(*where, lanes.numbers(), offsets, access)
            if array.cells is not None and access.mode is not Mode.SOURCE:
                self.races.check(array.cells, lanes.numbers(), offsets, access)
        yield Place(lanes, array, offsets)

    def read_in_bulk(self, array: Array, lane: int, read: BulkRead) -> None:
        """Record a lane's bulk copy that reads from an array, and report its races."""
        if self.checks and array.cells is not None:
            self.races.read_in_bulk(array.cells, lane, read)

    def pull(self, array: Array, offsets: Integers, bytes: Integers, by: int) -> None:
        """
        Record that `cp.async` copies begin to read `bytes` bytes each (`by` is 1), or have stopped
        (`by` is -1).
        """
        if self.checks and array.cells is not None:
            self.races.pull(array.cells, offsets, bytes, by)

    def pulled(
        self,
        array: Array,
        lanes: Integers,
        offsets: Integers,
        bytes: Integers,
        by: tuple[int, int] | None,
    ) -> None:
        """
        Record finished `cp.async` reads, for which the lanes have waited.

        If an mbarrier has waited for them instead, `by` is its agent and the time of its phase.
        """
        if self.checks and array.cells is not None:
            self.races.pulled(array.cells, lanes, offsets, bytes, by)
