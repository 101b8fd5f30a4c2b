# SPDX-License-Identifier: Apache-2.0
"""
Global memory: the launch's arrays and the module's variables, each at addresses of its own.

Arrays lie 64 GB apart, so an address that runs out of one never falls into another. The kernel
reads and writes the caller's arrays in place.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tilewright.codegen.simulator.findings import Findings, Kind
from tilewright.codegen.simulator.geometry import Geometry
from tilewright.codegen.simulator.lanes import Integers, Lanes
from tilewright.codegen.simulator.memory import (
    Access,
    Block,
    Complaints,
    Mode,
    Place,
    aligned,
    choose,
)

_SHIFT = 36
_MIDDLE = 1 << 35
"""An array starts in the middle of its 64 GB: addresses before it are told to be before it."""
_LARGEST_CELL = 4


class Array(Block):
    """One array in global memory: its name in findings, and the bytes that writes are kept by."""

    def __init__(self, base: int, data: NDArray[np.uint8], what: str, read_only: bool, cell: int):
        super().__init__(data)
        self.base = base
        self.end = base + len(data)
        self.what = what
        self.read_only = read_only
        self.cell = cell
        self.writer: NDArray[np.int64] | None = None

    def covers(self, low: int, high: int) -> bool:
        return self.base <= low and high <= self.end


class GlobalMemory:
    """
    All arrays, and who wrote what.

    A write is remembered per element, or 4 bytes of a larger one, as `epoch << 40 | thread + 1`,
    thread numbers within the launch. Findings: a thread writes or reads what another wrote, unless
    a block barrier lies between; blocks are ordered by nothing, except where the kernel has a
    device-wide fence (`fenced`): then only threads of one block are compared. Atomic updates,
    accesses to a part of an element, and writes of what another thread has read are not compared.
    """

    def __init__(self, geometry: Geometry, findings: Findings, complaints: Complaints):
        self.arrays: dict[int, Array] = {}
        self.checks = True
        self.fenced = False
        self.dry = False
        self.epoch = np.ones(geometry.lanes, np.int64)
        self._geometry = geometry
        self._findings = findings
        self._complaints = complaints

    def add(
        self, data: NDArray[np.uint8], what: str, read_only: bool, itemsize: int = _LARGEST_CELL
    ) -> int:
        """The address of a new array of elements of `itemsize` bytes."""
        number = len(self.arrays) + 1
        base = (number << _SHIFT) + _MIDDLE
        self.arrays[number] = Array(base, data, what, read_only, min(itemsize, _LARGEST_CELL))
        return base

    def barrier(self, lanes: slice | Integers) -> None:
        self.epoch[lanes] = self._geometry.next_epoch(self.epoch, lanes)

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
            straight = addresses % access.size == 0
            self._complain(array, lanes, addresses, access, chosen & ~inside, inside & ~straight)
            good = inside & straight
            if good.any():
                yield from self._allowed(array, choose(lanes, good), addresses[good], access)

    def _complain(
        self,
        array: Array,
        lanes: Lanes,
        addresses: Integers,
        access: Access,
        outside: NDArray[np.bool_],
        crooked: NDArray[np.bool_],
    ) -> None:
        numbers = lanes.numbers()
        if outside.any():
            first = int(np.argmax(outside))
            offset = int(addresses[first]) - array.base
            self._complaints.out_of_bounds(
                int(numbers[first]), offset, access, array.what, len(array.data)
            )
        if crooked.any():
            first = int(np.argmax(crooked))
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
        if self.checks and access.mode is not Mode.ATOMIC:
            self._check_races(array, lanes, offsets, access)
        yield Place(lanes, array, offsets)

    def _check_races(self, array: Array, lanes: Lanes, offsets: Integers, access: Access) -> None:
        if array.writer is None:
            if access.mode is not Mode.STORE:
                return
            array.writer = np.zeros(-(-len(array.data) // array.cell), np.int64)
        thread = lanes.numbers() + (self._geometry.first_block * self._geometry.width + 1)
        mine = (self.epoch[lanes.index] << 40) | thread
        cells = offsets // array.cell
        for part in range(-(-access.size // array.cell)):
            self._check_cells(array, lanes, cells + part, mine, access)

    def _check_cells(
        self, array: Array, lanes: Lanes, cells: Integers, mine: Integers, access: Access
    ) -> None:
        assert array.writer is not None
        before = array.writer[cells]
        stores = access.mode is Mode.STORE
        if before.any():
            self._compare(array, lanes, before, mine, access)
        if not stores:
            return
        array.writer[cells] = mine
        after = array.writer[cells]
        if access.size >= array.cell and not np.array_equal(after, mine):
            self._compare(array, lanes, after, mine, access)

    def _compare(
        self, array: Array, lanes: Lanes, before: Integers, mine: Integers, access: Access
    ) -> None:
        who, me, width = before & (1 << 40) - 1, mine & (1 << 40) - 1, self._geometry.width
        same_block = (who - 1) // width == (me - 1) // width
        unordered = (before >> 40 == mine >> 40) & same_block
        if not self.fenced:
            unordered |= ~same_block
        races = (who != me) & (who != 0) & unordered
        if access.size < array.cell or not races.any():
            return
        first = int(np.argmax(races))
        other = int(who[first]) - 1
        self._findings.add(
            Kind.RACE,
            access.line,
            f"{self._geometry.name(int(lanes.numbers()[first]))} {access.mode.value} a place of "
            f"{array.what} that thread {other % width} of block {other // width} wrote, "
            "with no barrier between",
        )
