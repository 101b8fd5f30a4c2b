# SPDX-License-Identifier: Apache-2.0
"""
Local memory: the arrays of each thread that do not fit its registers, and the bytes it wrote.

Local memory is private to a thread and not initialised (PTX ISA, "Local State Space"). Bytes that a
thread reads before it writes them are undefined; `undefined.py` reports their use.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from tilewright.codegen.simulator.geometry import Geometry
from tilewright.codegen.simulator.lanes import Integers, Lanes
from tilewright.codegen.simulator.memory import Access, AddressReports, Block, Place, choose
from tilewright.codegen.simulator.operands import TYPES, Instruction, Operand, Vector
from tilewright.codegen.simulator.register_uses import may_be_local
from tilewright.codegen.simulator.undefined import (
    DEFINED,
    UNWRITTEN,
    States,
    Undefined,
)


class LocalBlock(Block):
    """Local memory of all lanes, with the state of each byte (`undefined.py`)."""

    def __init__(self, bytes: int):
        super().__init__(np.zeros(bytes, np.uint8))
        self.states = Block(np.zeros(bytes, np.uint8))

    def store_states(self, offsets: Integers, states: States) -> None:
        """Record the states of stored bytes, of shape (lanes, bytes)."""
        size = states.shape[1]
        items = self.states.items(size)
        items[offsets // size] = states.view(items.dtype)[:, 0]

    def load_states(self, offsets: Integers, size: int) -> States:
        """Return the states of loaded bytes, of shape (lanes, size)."""
        found = np.take(self.states.items(size), offsets // size, mode="clip")
        return found.view(np.uint8).reshape(-1, size)


class LocalSpace:
    """Local space: each thread's own memory for spilled arrays."""

    def __init__(self, size: int, geometry: Geometry, complaints: AddressReports):
        self.size = size
        self._stride = -(-size // 16) * 16
        self._block = LocalBlock(self._stride * geometry.lanes)
        self._base = geometry.lane * self._stride
        self._complaints = complaints

    def reset(self) -> None:
        """Mark all bytes as unwritten at the start of a batch."""
        self._block.states.data[:] = UNWRITTEN

    def places(self, lanes: Lanes, addresses: Integers, access: Access) -> Iterator[Place]:
        inside = (addresses >= 0) & (addresses + access.size <= self.size)
        good = inside & (addresses % access.size == 0)
        if not good.all():
            first = int(np.argmin(good))
            lane, address = int(lanes.numbers()[first]), int(addresses[first])
            if inside[first]:
                self._complaints.misaligned(lane, address, access, "local memory")
            else:
                self._complaints.out_of_bounds(lane, address, access, "local memory", self.size)
        if good.any():
            lanes = choose(lanes, good)
            yield Place(lanes, self._block, addresses[good] + self._base[lanes.index])

    def byte(self, place: Place, row: int) -> int:
        """Return the byte of the thread's local memory at which a row of a place starts."""
        return int(place.offsets[row]) % self._stride


class LocalChecks:
    """Check of the bytes of local memory that hold a value, for one launch."""

    def __init__(self, space: LocalSpace, undefined: Undefined, geometry: Geometry):
        self.space = space
        self.undefined = undefined
        self.geometry = geometry

    def reset(self) -> None:
        """Mark all bytes as unwritten at the start of a batch, and all registers as defined."""
        self.space.reset()
        self.undefined.reset()

    def watch(self, instruction: Instruction) -> Callable[[Place], None] | None:
        """
        Return a function that checks the places of a load or store; None if the instruction cannot
        access local memory.
        """
        if not self.space.size or not may_be_local(instruction):
            return None
        operand = instruction.operands[1 if instruction.root == "st" else 0]
        registers = operand.items if isinstance(operand, Vector) else (operand,)
        element = TYPES[instruction.type].itemsize
        watch = _Watch(self, registers, element, instruction.line)
        return watch.load if instruction.root == "ld" else watch.store


@dataclass(frozen=True)
class _Watch:
    """Check of one load or store of elements of `element` bytes."""

    checks: LocalChecks
    registers: tuple[Operand, ...]
    element: int
    line: int

    def load(self, place: Place) -> None:
        """Mark registers as undefined where they are loaded from bytes without a value."""
        size, undefined = len(self.registers) * self.element, self.checks.undefined
        states = np.full((place.lanes.count, size), DEFINED, np.uint8)
        if isinstance(place.block, LocalBlock):
            states = place.block.load_states(place.offsets, size)
        number = 0
        if (unwritten := states == UNWRITTEN).any():
            text = self._text(place, *np.argwhere(unwritten)[0].tolist())
            number = undefined.load(self.line, text)
        for first, register in zip(range(0, size, self.element), self.registers, strict=True):
            mine = states[:, first : first + self.element]
            undefined.loaded(register, place.lanes, mine, number)

    def store(self, place: Place) -> None:
        """
        Record for each stored byte whether it has a value, or is copied from a byte without one.
        """
        if not isinstance(place.block, LocalBlock):
            return
        undefined = self.checks.undefined
        states = [undefined.states(r, place.lanes, self.element) for r in self.registers]
        place.block.store_states(place.offsets, np.concatenate(states, axis=1))

    def _text(self, place: Place, row: int, column: int) -> str:
        lane = int(place.lanes.numbers()[row])
        byte = self.checks.space.byte(place, row) + column
        name = self.checks.geometry.name(lane)
        return f"{name} reads byte {byte} of its local memory, which it has not written"
