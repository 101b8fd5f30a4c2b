# SPDX-License-Identifier: Apache-2.0
"""
Global memory: the launch's arrays and the module's variables, each at addresses of its own.

Arrays lie 64 GB apart, so an address that runs out of one never falls into another. The kernel
reads and writes the caller's arrays in place.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tilewright.codegen.simulator.counters import SECTOR
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
from tilewright.codegen.simulator.order import Order

_SHIFT = 36
_MIDDLE = 1 << 35
"""An array starts in the middle of its 64 GB: addresses before it are told to be before it."""
_LARGEST_CELL = 4
_TIME_SHIFT = 40
_THREAD = (1 << _TIME_SHIFT) - 1


class Cells:
    """The stamps of an array's elements: who wrote last, whether by an atomic, and who read."""

    def __init__(self, size: int, cell: int):
        count = -(-size // cell)
        self.writer = np.zeros(count, np.int64)
        self.reader = np.zeros(count, np.int64)
        self.strong = np.zeros(count, np.int8)


def _strength(access: Access) -> int:
    """0 for an access that must not meet others, 1 for one that may meet those of its block."""
    if access.strong is None:
        return 0
    return 1 if access.strong == "cta" else 2


class Array(Block):
    """One array in global memory: its name in findings, and the bytes that writes are kept by."""

    def __init__(self, base: int, data: NDArray[np.uint8], what: str, read_only: bool, cell: int):
        super().__init__(data)
        self.base = base
        self.end = base + len(data)
        self.what = what
        self.read_only = read_only
        self.cell = cell
        self.written: Cells | None = None
        self.moved: dict[bool, NDArray[np.bool_]] = {}
        """Which sectors are loaded (False) or stored (True) at all."""

    def move(self, offsets: Integers, stores: bool) -> None:
        """Count the sectors in which accesses start, once."""
        if stores not in self.moved:
            self.moved[stores] = np.zeros(-(-len(self.data) // SECTOR), np.bool_)
        self.moved[stores][offsets // SECTOR] = True

    def covers(self, low: int, high: int) -> bool:
        return self.base <= low and high <= self.end


class GlobalMemory:
    """
    All arrays, and who wrote what.

    The last write is remembered per element, or 4 bytes of a larger one, and in arrays that may be
    written the last read too, as a stamp: `time << 40 | thread + 1`, thread numbers within the
    launch. Findings: of two accesses, one of which writes, nothing orders the second after the
    first (`order.py`). Two strong accesses (atomics, volatile, acquire, release, relaxed) do not
    race, nor do accesses to a part of an element.
    """

    def __init__(
        self, geometry: Geometry, order: Order, findings: Findings, complaints: Complaints
    ):
        self.arrays: dict[int, Array] = {}
        self.checks = True
        self.dry = False
        self._geometry = geometry
        self._order = order
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

    def minimum_bytes(self) -> int:
        """What loads and stores need to move if each sector moves once."""
        moved = [mask for array in self.arrays.values() for mask in array.moved.values()]
        return SECTOR * sum(int(np.count_nonzero(mask)) for mask in moved)

    def array_at(self, address: int) -> Array:
        """The array that starts at an address."""
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
        if self.checks:
            array.move(offsets, access.mode is not Mode.LOAD)
            self._check_races(array, lanes, offsets, access)
        yield Place(lanes, array, offsets)

    def _check_races(self, array: Array, lanes: Lanes, offsets: Integers, access: Access) -> None:
        if array.read_only:
            return
        if array.written is None:
            array.written = Cells(len(array.data), array.cell)
        numbers = lanes.numbers()
        thread = numbers + (self._geometry.first_block * self._geometry.width + 1)
        mine = (self._order.time[numbers] << _TIME_SHIFT) | thread
        cells = offsets // array.cell
        for part in range(-(-access.size // array.cell)):
            now = _Now(array, numbers, mine, access, array.written)
            self._check_cells(now, cells + part)

    def _check_cells(self, now: "_Now", cells: Integers) -> None:
        written, access = now.written, now.access
        before = written.writer[cells]
        if before.any():
            self._compare(now, np.where(self._both_strong(now, cells), 0, before), "wrote")
        if access.mode is Mode.LOAD:
            written.reader[cells] = np.where(access.strong is None, now.mine, 0)
            return
        readers = written.reader[cells]
        if readers.any():
            self._compare(now, readers, "read")
        written.writer[cells] = now.mine
        written.strong[cells] = _strength(access)
        if access.strong is None:
            self._compare(now, written.writer[cells], "writes")

    def _both_strong(self, now: "_Now", cells: Integers) -> NDArray[np.bool_]:
        """Strong accesses do not race; those of the scope `cta` only with others of the block."""
        theirs, mine = now.written.strong[cells], _strength(now.access)
        if not mine or not theirs.any():
            return np.zeros(len(cells), np.bool_)
        width = self._geometry.width
        there = ((now.written.writer[cells] & _THREAD) - 1) // width
        here = ((now.mine & _THREAD) - 1) // width
        return (theirs > 0) & ((np.minimum(theirs, mine) > 1) | (here == there))

    def _compare(self, now: "_Now", before: Integers, verb: str) -> None:
        """Of what others did `before`, what do the lanes not know?"""
        other = (before != now.mine) & (before != 0) & ((before ^ now.mine) & _THREAD != 0)
        if now.access.size < now.array.cell or not other.any():
            return
        width = self._geometry.width
        who, time = (before[other] & _THREAD) - 1, before[other] >> _TIME_SHIFT
        me = now.lanes[other]
        members = self._order.members
        then = who - self._geometry.first_block * width
        near = (then // members == me // members) & (verb != "writes")
        ordered = np.zeros(len(who), np.bool_)
        ordered[near] = self._order.knows(me[near], then[near], time[near])
        if self._order.uses_rows and verb != "writes" and not near.all():
            far = ~near
            ordered[far] = self._order.knows_elsewhere(me[far], who[far], time[far])
        if ordered.all():
            return
        first = int(np.argmin(ordered))
        self._findings.add(
            Kind.RACE,
            now.access.line,
            f"{self._geometry.name(int(me[first]))} {now.access.mode.value} a place of "
            f"{now.array.what} that {self._geometry.launch_name(int(who[first]))} {verb}, with "
            "nothing to order them",
        )


@dataclass(frozen=True, slots=True)
class _Now:
    """An access that is compared with earlier ones: the lanes and their stamps."""

    array: Array
    lanes: Integers
    mine: Integers
    access: Access
    written: Cells
