# SPDX-License-Identifier: Apache-2.0
"""
Shared memory of a batch of blocks, including copies that are still in flight.

The low bits of an address are the byte within a block. The top 8 bits select the block: 0 for the
thread's own, otherwise one more than its rank in the cluster (`mapa` makes these addresses).

Memory starts as NaNs with a peculiar bit pattern. Only a loaded value with this pattern is checked
for a missing write.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright.codegen.simulator.descriptors import CHUNK
from tilewright.codegen.simulator.findings import Findings, Kind
from tilewright.codegen.simulator.geometry import Geometry
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
from tilewright.codegen.simulator.order import Order
from tilewright.codegen.simulator.shared_layout import SharedLayout
from tilewright.codegen.simulator.shared_races import SharedRaces
from tilewright.codegen.simulator.touches import Touch
from tilewright.codegen.simulator.valid_mbarriers import ValidMBarriers
from tilewright.codegen.simulator.visitors import Visitors

_POISON = np.uint32(0x7FC0DEAD)
RANK_SHIFT = 24
"""
Bit at which an address holds the rank of its block in the cluster, plus one; 0 is the own block.
"""


class StartedCopy(NamedTuple):
    """
    A bulk copy to shared memory that is in flight. It lands at `time` of the mbarrier that `agent`
    names.
    """

    touch: Touch
    agent: int
    time: int


class SharedMemory:
    """
    The shared memory of all blocks of a batch. `granule` is the bytes of a race cell: of the
    smallest access of the kernel, at most 4.
    """

    def __init__(
        self,
        layout: SharedLayout,
        granule: int,
        geometry: Geometry,
        order: Order,
        findings: Findings,
        complaints: AddressReports,
    ):
        self.layout = layout
        self.checks = True
        self.mixes_strong = False
        """True if strong accesses may race with each other: `strong_accesses.py`."""
        self.loads_data = False
        """True if the kernel has volatile loads of data: `lockstep.py`."""
        self._granule = granule
        self._geometry = geometry
        self._order = order
        self._findings = findings
        self._complaints = complaints
        self._base = geometry.block_of * layout.size
        self.block = Block(np.zeros(layout.size * geometry.blocks, np.uint8))
        """
        Bytes of all blocks. `in_flight` holds the byte ranges, within a block, that copies may
        still be writing.
        """
        self._cells = layout.size * geometry.blocks // granule
        self.reset()

    def reset(self) -> None:
        """Mark all bytes as unwritten at the start of a batch."""
        self.block.items(4)[:] = _POISON
        self.races = SharedRaces(self._cells, self._geometry, self._order, self._findings)
        self.races.mixes_strong(self.mixes_strong)
        self.races.loads_data = self.loads_data
        self.visitors = Visitors(self._geometry, self._order, self._findings)
        self._copier = np.zeros(self._cells, np.int32)
        self.in_flight: list[tuple[int, int]] = []
        self.mbarriers = ValidMBarriers(self.layout.size, self._geometry, self._findings)

    def places(self, lanes: Lanes, addresses: Integers, access: Access) -> Iterator[Place]:
        base = self._base[lanes.index]
        if int(addresses.max()) >> RANK_SHIFT > 0:
            lanes, addresses, base = self._in_cluster(lanes, addresses, base, access)
            if not lanes.count:
                return
        low, high = int(addresses.min()), int(addresses.max()) + access.size
        inside = any(start <= low and high <= end for start, end in self.layout.ranges)
        if not inside or not aligned(addresses, access.size):
            good = self._report_invalid(lanes, addresses, access)
            if not good.any():
                return
            lanes, addresses, base = choose(lanes, good), addresses[good], base[good]
            low, high = int(addresses.min()), int(addresses.max()) + access.size
        offsets = addresses + base
        if self.checks:
            touch = self._touch(lanes.numbers(), offsets, low, high, access)
            self._check(touch, access)
        yield Place(lanes, self.block, offsets)

    def locate(self, lane: int, address: int) -> tuple[int, int]:
        """
        Return the block of the batch to which a lane's address refers, and the byte within this
        block.
        """
        block, rank = int(self._geometry.block_of[lane]), address >> RANK_SHIFT
        if rank:
            block += rank - 1 - block % self._geometry.cluster_blocks
        return block, address & (1 << RANK_SHIFT) - 1

    def _in_cluster(
        self, lanes: Lanes, addresses: Integers, base: Integers, access: Access
    ) -> tuple[Lanes, Integers, Integers]:
        """
        Return the lanes with existing blocks, their addresses within a block, and those blocks'
        bases.

        Reports addresses of blocks that do not exist, and records visits to other blocks.
        """
        rank, own = (addresses >> RANK_SHIFT) - 1, self._geometry.rank()[lanes.index]
        exists = rank < self._geometry.cluster_blocks
        if not exists.all():
            first = int(np.argmin(exists))
            lane, address = int(lanes.numbers()[first]), int(addresses[first])
            self._complaints.wild(lane, address, access)
            lanes = lanes.where(exists) or Lanes(slice(0, 0), 0, False)
            addresses, base, rank, own = (x[exists] for x in (addresses, base, rank, own))
        moved = np.where(rank < 0, 0, rank - own)
        if self.checks and (moved != 0).any():
            away = moved != 0
            numbers = lanes.numbers()[away]
            self.visitors.visit(numbers, self._geometry.block_of[numbers] + moved[away], access)
        return lanes, addresses & (1 << RANK_SHIFT) - 1, base + moved * self.layout.size

    def _report_invalid(
        self, lanes: Lanes, addresses: Integers, access: Access
    ) -> NDArray[np.bool_]:
        inside = np.zeros(lanes.count, np.bool_)
        for start, end in self.layout.ranges:
            inside |= (addresses >= start) & (addresses + access.size <= end)
        is_aligned = addresses % access.size == 0
        numbers = lanes.numbers()
        if not inside.all():
            first = int(np.argmin(inside))
            self.out_of_bounds(int(numbers[first]), int(addresses[first]), access)
        if not (is_aligned | ~inside).all():
            first = int(np.argmax(inside & ~is_aligned))
            self._complaints.misaligned(
                int(numbers[first]), int(addresses[first]), access, "shared memory"
            )
        return inside & is_aligned

    def bases(self, lanes: Integers) -> Integers:
        """Return the offset within the batch of the shared memory of each lane's block."""
        return self._base[lanes]

    def chunks(self, offsets: Integers) -> NDArray[np.complex128]:
        """Return the 16 bytes at each offset within the batch, as one item."""
        return self.block.items(CHUNK)[offsets // CHUNK]

    def read_chunks(self, lanes: Integers, offsets: Integers, line: int) -> bool:
        """
        Check the reads of 16 bytes by tensor cores for lanes, at the `offsets` within the batch by
        (lane, chunk). Return false if some are outside of shared arrays, which is reported.
        """
        within, access = offsets - self._base[lanes][:, None], Access(Mode.LOAD, CHUNK, line)
        low, high = int(within.min()), int(within.max()) + CHUNK
        if not any(start <= low and high <= end for start, end in self.layout.ranges):
            self.out_of_bounds(int(lanes[0]), low, access)
            return False
        if self.checks:
            by = np.repeat(lanes, offsets.shape[1])
            touch = self._touch(by, offsets.ravel(), low, high, access)
            self._check(touch, access)
            self.races.against_proxy(touch, "a multiplication", "reads")
        return True

    def touch(self, lane: int, offsets: Integers, size: int, line: int) -> Touch:
        """
        Return the access by one lane's bulk copy to `offsets`, given as bytes within the batch.
        """
        within = offsets % self.layout.size
        lanes = np.full(len(offsets), lane)
        low, high = int(within.min()), int(within.max()) + size
        return Touch(lanes, offsets, size, self._granule, low, high, line)

    def _touch(
        self, lanes: Integers, offsets: Integers, low: int, high: int, access: Access
    ) -> Touch:
        return Touch(lanes, offsets, access.size, self._granule, low, high, access.line)

    def start_bulk(self, copies: Sequence[StartedCopy]) -> None:
        """
        Record bulk copies of one instruction, and report races with earlier accesses.

        Copies to different blocks are checked together; otherwise they are checked one by one, as
        they may overlap.
        """
        if not copies:
            return
        blocks = {int(copy.touch.offsets[0]) // self.layout.size for copy in copies}
        groups = [copies] if len(blocks) == len(copies) else [[copy] for copy in copies]
        for group in groups:
            touch = Touch.joined([copy.touch for copy in group])
            if self._meets_copies(touch):
                self._check_in_flight(touch)
            self.mbarriers.check(touch, Mode.BULK)
            stamps = [np.full(len(c.touch.lanes), c.time << 32 | c.agent) for c in group]
            self.races.start_bulk(touch, np.concatenate(stamps))

    def out_of_bounds(self, lane: int, address: int, access: Access) -> None:
        """Report an access that fits no shared array."""
        before = [r for r in self.layout.ranges if r[0] <= address] or [(0, 0)]
        start, end = before[-1]
        self._complaints.out_of_bounds(lane, address - start, access, "a shared array", end - start)

    def _meets_copies(self, touch: Touch) -> bool:
        return any(low < touch.high and touch.low < high for low, high in self.in_flight)

    def _check(self, touch: Touch, access: Access) -> None:
        mode = access.mode
        if self._meets_copies(touch):
            self._check_in_flight(touch)
        if mode is Mode.OBJECT:
            self._check_written(touch, access)
            self.races.use_object(touch)
            return
        if mode is not Mode.MAKE:
            self.mbarriers.check(touch, mode)
        if mode is Mode.LOAD:
            self._check_written(touch, access)
            self.races.read(touch, access if access.strong is not None else None)
            return
        if mode is Mode.ATOMIC:
            self._check_written(touch, access)
        if mode is Mode.ATOMIC or access.strong is not None:
            self.races.update(touch, access)
            return
        self.races.write(touch, copying=mode is Mode.COPY)
        if mode is Mode.COPY:
            self._start_copy(touch)

    def _check_written(self, touch: Touch, access: Access) -> None:
        """
        Report a read of bytes that no thread wrote, apart from elements that the load drops.

        The loaded words are compared first, as this is faster than a look-up of each cell's writer.
        """
        if self._granule == 4:
            values = np.take(self.block.items(touch.size), touch.offsets // touch.size, mode="clip")
            if not (values.view(np.uint32) == _POISON).any():
                return
        cells = touch.cells[:, self._cells_read(access)] if access.dropped else touch.cells
        unwritten = self.races.written[cells] == 0
        if not unwritten.any():
            return
        row, column = (int(at[0]) for at in np.nonzero(unwritten))
        lane = int(touch.lanes[row])
        offset = int(cells[row, column]) * self._granule % self.layout.size
        self._findings.add(
            Kind.UNINITIALISED,
            touch.line,
            f"{self._geometry.name(lane)} reads byte {offset} of shared memory, "
            "which no thread wrote",
        )

    def _cells_read(self, access: Access) -> list[int]:
        """Return the cells of an access, counted from its first, whose elements are read."""
        each = access.element // self._granule
        read = (n for n in range(access.vector) if n not in access.dropped)
        return [n * each + cell for n in read for cell in range(each)]

    def _check_in_flight(self, touch: Touch) -> None:
        copier = self._copier[touch.cells]
        if not copier.any():
            return
        row = int(np.nonzero(copier)[0][0])
        lane, other = int(touch.lanes[row]), int(copier[copier != 0][0]) - 1
        self._findings.add(
            Kind.ASYNC_RACE,
            touch.line,
            f"{self._geometry.name(lane)} touches shared memory that a cp.async of "
            f"{self._geometry.name(other)} is still filling",
        )

    def _start_copy(self, touch: Touch) -> None:
        self._copier[touch.cells] = touch.lanes[:, None] + 1
        if (self._copier[touch.cells] != touch.lanes[:, None] + 1).any():
            self._findings.add(
                Kind.ASYNC_RACE, touch.line, "two threads fill one place by one cp.async"
            )
        self.in_flight.append((touch.low, touch.high))

    def land(
        self, lanes: Integers, offsets: Integers, access: Access, by: tuple[int, int] | None
    ) -> None:
        """
        Record that copies to `offsets` (within the batch) have landed.

        With `by` None their threads have waited for them. Otherwise `by` is the agent and time of
        the mbarrier on which they completed.
        """
        if not self.checks:
            return
        within = offsets - self._base[lanes]
        low, high = int(within.min()), int(within.max()) + access.size
        touch = self._touch(lanes, offsets, low, high, access)
        self._copier[touch.cells] = 0
        if by is None:
            self.races.record_write(touch)
        else:
            self.races.record_copy(touch, *by)
