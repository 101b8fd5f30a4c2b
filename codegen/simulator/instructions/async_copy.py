# SPDX-License-Identifier: Apache-2.0
"""`cp.async` and its groups. PTX ISA, "Non-bulk copy"."""

from collections.abc import Iterator

import numpy as np

from tilewright.codegen.simulator.instructions.bulk_copy import bulk_copy
from tilewright.codegen.simulator.instructions.mbarrier import arrive_after_copies
from tilewright.codegen.simulator.instructions.memory_access import addresses
from tilewright.codegen.simulator.lanes import Integers, Lanes
from tilewright.codegen.simulator.memory import Access, Mode, Place
from tilewright.codegen.simulator.operands import Immediate, Instruction
from tilewright.codegen.simulator.unit import Builder, Step, Unit, unknown

_SIZES = (4, 8, 16)
_HINTS = {"async", "ca", "cg", "shared", "shared_cta", "global", "L2_64B", "L2_128B", "L2_256B"}


def _async_copy(unit: Unit, instruction: Instruction) -> Step:
    parts = instruction.parts[1:]
    if parts == ["async", "commit_group"]:
        return unit.copies.commit
    if parts == ["async", "wait_all"]:
        return unit.copies.wait_all
    if parts == ["async", "wait_group"]:
        newest = _constant(instruction, 0)
        return lambda lanes: unit.copies.wait(lanes, newest)
    if parts[:3] == ["async", "mbarrier", "arrive"]:
        return arrive_after_copies(unit, instruction)
    if parts[:2] == ["async", "bulk"]:
        return bulk_copy(unit, instruction)
    if set(parts) <= _HINTS and parts[0] == "async":
        return _copy(unit, instruction)
    raise unknown(instruction)


def _constant(instruction: Instruction, number: int) -> int:
    operand = instruction.operands[number]
    if not isinstance(operand, Immediate):
        raise unknown(instruction)
    return operand.bits


def _copy(unit: Unit, instruction: Instruction) -> Step:
    """
    Compile `[shared], [global], size{, bytes to read}`; zeros fill the bytes that are not read.
    """
    target, _, _, *amount = instruction.operands
    size = _constant(instruction, 2)
    if size not in _SIZES:
        raise unknown(instruction)
    to, source = addresses(unit, target), _Source(unit, instruction, size)
    fill = Access(Mode.COPY, size, instruction.line)
    requested = unit.registers.source(amount[0], "u32") if amount else None
    meter = unit.meters.meter(instruction.line, "shared", "cp", size)
    targets = np.zeros(unit.geometry.lanes, np.int64)

    def run(lanes: Lanes) -> None:
        for place in unit.shared.places(lanes, to(lanes), fill):
            if meter:
                meter.add(place.lanes, place.offsets)
            index = place.lanes.index
            targets[index] = place.offsets
            count = np.full(place.lanes.count, size) if requested is None else requested[index]
            for found, bytes_read in source.places(place.lanes, np.minimum(count, size)):
                mine = targets[found.lanes.index].copy()
                unit.copies.start(found.lanes, mine, found.block, found.offsets, bytes_read, fill)

    return run


class _Source:
    """Source of a `cp.async`; lanes that read no bytes may have any address."""

    def __init__(self, unit: Unit, instruction: Instruction, size: int):
        self._addresses = addresses(unit, instruction.operands[1])
        self._size = size
        self._memory = unit.spaces["global"]
        self._line = instruction.line
        self._meter = unit.meters.meter(instruction.line, "global", "cp", size)
        self._nothing = unit.shared.block

    def places(self, lanes: Lanes, count: Integers) -> Iterator[tuple[Place, Integers]]:
        """
        Yield each place that lanes read, with the number of bytes that each lane reads; `count` has
        these numbers for all lanes.
        """
        for requested in np.unique(count).tolist():
            some = lanes.where(count == requested)
            assert some is not None
            bytes_read = np.full(some.count, requested)
            if requested == 0:
                yield Place(some, self._nothing, np.zeros(some.count, np.int64)), bytes_read
                continue
            for place in self._read(some, requested):
                yield place, bytes_read[: place.lanes.count]

    def _read(self, lanes: Lanes, requested: int) -> Iterator[Place]:
        addresses = self._addresses(lanes)
        if requested < self._size:
            part = requested & -requested
            access = Access(Mode.PULL, part, self._line)
            parts = (addresses + start for start in range(0, requested, part))
            found = [list(self._memory.places(lanes, part, access)) for part in parts]
            yield from found[0] if all(found) else []
            return
        access = Access(Mode.PULL, self._size, self._line)
        for place in self._memory.places(lanes, addresses, access):
            if self._meter:
                self._meter.add(place.lanes, place.offsets)
            yield place


ASYNC_COPY: dict[str, Builder] = {"cp": _async_copy}
