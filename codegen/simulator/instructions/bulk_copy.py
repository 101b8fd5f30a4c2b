# SPDX-License-Identifier: Apache-2.0
"""
`cp.async.bulk` and `cp.async.bulk.tensor` from global to shared memory, completing on an mbarrier.

PTX ISA, "cp.async.bulk" and "cp.async.bulk.tensor". Tile mode, without multicast or interleaving.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright.codegen.simulator.findings import Kind
from tilewright.codegen.simulator.global_memory import Array
from tilewright.codegen.simulator.global_races import BulkRead
from tilewright.codegen.simulator.instructions.memory_access import addresses
from tilewright.codegen.simulator.lanes import Integers, Lanes, compact
from tilewright.codegen.simulator.mbarrier_phase import BulkCopy
from tilewright.codegen.simulator.memory import Access, Mode
from tilewright.codegen.simulator.operands import Instruction, TensorPlace
from tilewright.codegen.simulator.shared_memory import StartedCopy
from tilewright.codegen.simulator.tensor_map import ALIGNMENT
from tilewright.codegen.simulator.unit import Step, Unit, unknown
from tilewright.codegen.simulator.wavefronts import SECTOR

_UNIT = 16
"""Bytes of the smallest bulk copy; all sizes and addresses are multiples of it."""
_SPACES = ("shared_cluster", "shared_cta", "global")
_COMPLETION = "mbarrier_complete_tx_bytes"
_COMMON = {"async", "bulk", *_SPACES, _COMPLETION, "L2_cache_hint"}
_TENSOR = {"tensor", "tile", *(f"{rank}d" for rank in range(1, 6))}


def bulk_copy(unit: Unit, instruction: Instruction) -> Step:
    """
    Compile a `cp.async.bulk` or `cp.async.bulk.tensor` from global to shared memory that completes
    on an mbarrier. Raises `SimulatorError` for other forms.
    """
    parts = set(instruction.parts[1:])
    target, *source = [part for part in instruction.parts if part in _SPACES]
    if target == "global" or source != ["global"] or _COMPLETION not in parts:
        raise unknown(instruction)
    if "tensor" in parts and parts <= _COMMON | _TENSOR:
        return _Tensor(unit, instruction).run
    if parts <= _COMMON:
        return _Plain(unit, instruction).run
    raise unknown(instruction)


class _Source(NamedTuple):
    """Source of a copy: runs of `size` bytes that start at `offsets` in an array."""

    array: Array
    offsets: Integers
    size: int


class _Bulk(ABC):
    """
    A bulk copy with or without a tensor map: its target, and the mbarrier on which it completes.
    """

    def __init__(self, unit: Unit, instruction: Instruction, target: int, mbarrier: int):
        self.unit = unit
        self.line = instruction.line
        self._target = addresses(unit, instruction.operands[target])
        self._mbarrier = addresses(unit, instruction.operands[mbarrier])
        self._object = Access(Mode.OBJECT, 8, instruction.line)
        self._sectors = unit.meters.count(instruction.line, "global", "bulk", _UNIT)
        self._started: list[StartedCopy] = []

    def run(self, lanes: Lanes) -> None:
        """Start a copy for each lane."""
        self._started.clear()
        for lane in lanes.numbers().tolist():
            one = compact(np.array([lane]))
            places = list(self.unit.shared.places(one, self._mbarrier(one), self._object))
            if places:
                self._start(lane, one, int(self._target(one)[0]), int(places[0].offsets[0]))
        self.unit.shared.start_bulk(self._started)

    @abstractmethod
    def _start(self, lane: int, one: Lanes, target: int, mbarrier: int) -> None:
        """
        Start the copy of one lane to the shared address `target`. It completes on the mbarrier at
        byte `mbarrier` of the batch.
        """

    def _copy(
        self,
        lane: int,
        target: int,
        within: Integers,
        data: NDArray[np.uint8],
        mbarrier: int,
        source: _Source,
    ) -> None:
        """Start a copy to the bytes `within` of the block that `target` names."""
        unit = self.unit
        block, _ = unit.shared.locate(lane, target)
        ranges = unit.shared.layout.ranges
        low, high = int(within.min()), int(within.max()) + _UNIT
        if not any(start <= low and high <= end for start, end in ranges):
            access = Access(Mode.BULK, high - low, self.line)
            unit.shared.out_of_bounds(lane, low, access)
            return
        offsets = within + block * unit.shared.layout.size
        copy = BulkCopy(offsets, data, data.size, self.line)
        barrier = unit.mbarriers.start(mbarrier, lane, copy)
        if barrier is not None and unit.shared.checks:
            agent, time = barrier.agent, barrier.copy_time
            read = BulkRead(source.offsets, source.size, agent, time, self.line)
            unit.global_memory.read_in_bulk(source.array, lane, read)
            touch = unit.shared.touch(lane, offsets, _UNIT, self.line)
            self._started.append(StartedCopy(touch, agent, time))

    def _count(self, array: Array, offsets: Integers) -> None:
        """Add to the cost the sectors that hold the elements at `offsets`, each sector once."""
        if self._sectors is not None:
            sectors = len(np.unique(offsets // SECTOR))
            self._sectors.requests += 1
            self._sectors.transactions += sectors
            self._sectors.ideal += sectors
            array.move(offsets, stores=False)

    def _refuse(self, lane: int, what: str, kind: Kind = Kind.TENSOR_MAP) -> None:
        name = self.unit.geometry.name(lane)
        self.unit.findings.add(kind, self.line, f"{name} starts a bulk copy {what}")


class _Tensor(_Bulk):
    """Bulk copy `[shared], [map, {coordinates}], [mbarrier]` of a box of a tensor map."""

    def __init__(self, unit: Unit, instruction: Instruction):
        super().__init__(unit, instruction, target=0, mbarrier=2)
        source = instruction.operands[1]
        if not isinstance(source, TensorPlace):
            raise unknown(instruction)
        rank = next(int(part[0]) for part in instruction.parts if part[1:] == "d")
        if rank != len(source.coordinates.items):
            raise unknown(instruction)
        self._map = addresses(unit, source.map)
        self._coordinates = [unit.registers.source(c, "s32") for c in source.coordinates.items]

    def _start(self, lane: int, one: Lanes, target: int, mbarrier: int) -> None:
        unit, where = self.unit, int(self._map(one)[0])
        bound = unit.tensor_maps.get(where)
        if bound is None:
            self._refuse(lane, f"with a tensor map at {where:#x}, where there is none")
            return
        map, array = bound
        if map.rank != len(self._coordinates):
            self._refuse(lane, f"in {len(self._coordinates)} axes of a tensor map of {map.rank}")
            return
        _, start = unit.shared.locate(lane, target)
        if start % ALIGNMENT:
            self._refuse(lane, f"to byte {start} of shared memory, no multiple of {ALIGNMENT}")
            return
        origin = tuple(int(c[lane]) for c in reversed(self._coordinates))
        data, offsets = map.load(array.data, origin)
        self._count(array, offsets)
        source = _Source(array, offsets, map.array.itemsize)
        self._copy(lane, target, map.places(start), data, mbarrier, source)


class _Plain(_Bulk):
    """Bulk copy `[shared], [global], bytes, [mbarrier]` of a run of bytes."""

    def __init__(self, unit: Unit, instruction: Instruction):
        super().__init__(unit, instruction, target=0, mbarrier=3)
        self._source = addresses(unit, instruction.operands[1])
        self._size = unit.registers.source(instruction.operands[2], "u32")

    def _start(self, lane: int, one: Lanes, target: int, mbarrier: int) -> None:
        size, source = int(self._size[lane]), int(self._source(one)[0])
        _, start = self.unit.shared.locate(lane, target)
        if size % _UNIT or start % _UNIT or source % _UNIT or not size:
            self._refuse(
                lane, f"of {size} bytes with a size or address no multiple of 16", Kind.MISALIGNED
            )
            return
        found = self._read(one, source, size)
        if found is not None:
            at = int(found.offsets[0])
            data = found.array.data[at : at + size].reshape(-1, _UNIT).copy()
            within = start + np.arange(0, size, _UNIT)
            self._copy(lane, target, within, data, mbarrier, found)

    def _read(self, one: Lanes, source: int, size: int) -> _Source | None:
        """
        Return the bytes that a copy reads. Return None if they are not all in one array, which is
        reported.
        """
        access = Access(Mode.SOURCE, _UNIT, self.line)
        first, last = (
            list(self.unit.global_memory.places(one, np.array([at]), access))
            for at in (source, source + size - _UNIT)
        )
        if not first or not last or not isinstance(first[0].block, Array):
            return None
        array, at = first[0].block, int(first[0].offsets[0])
        self._count(array, np.arange(at, at + size, _UNIT))
        return _Source(array, np.array([at]), size)
