# SPDX-License-Identifier: Apache-2.0
"""
Local memory: the arrays of each thread that do not fit its registers, and which bytes it wrote.

PTX ISA, "Local State Space": local memory is private to a thread, and nothing initialises it. What
a thread reads before it has written is undefined: `undefined.py` reports what is done with it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from tilewright.codegen.simulator.geometry import Geometry
from tilewright.codegen.simulator.lanes import Integers, Lanes
from tilewright.codegen.simulator.memory import Access, Block, Complaints, Place, choose
from tilewright.codegen.simulator.operands import TYPES, Instruction, Operand, Vector
from tilewright.codegen.simulator.register_uses import may_be_local
from tilewright.codegen.simulator.undefined import (
    DEFINED,
    UNWRITTEN,
    States,
    Undefined,
)


class LocalBlock(Block):
    """The local memory of all lanes, and the states of its bytes (`undefined.py`)."""

    def __init__(self, bytes: int):
        super().__init__(np.zeros(bytes, np.uint8))
        self.states = Block(np.zeros(bytes, np.uint8))

    def store_states(self, offsets: Integers, states: States) -> None:
        """Record stores of (lanes, bytes)."""
        size = states.shape[1]
        items = self.states.items(size)
        items[offsets // size] = states.view(items.dtype)[:, 0]

    def load_states(self, offsets: Integers, size: int) -> States:
        """(lanes, size)."""
        found = np.take(self.states.items(size), offsets // size, mode="clip")
        return found.view(np.uint8).reshape(-1, size)


class LocalSpace:
    """Each thread's own memory: its spilled arrays."""

    def __init__(self, size: int, geometry: Geometry, complaints: Complaints):
        self.size = size
        self._stride = -(-size // 16) * 16
        self._block = LocalBlock(self._stride * geometry.lanes)
        self._base = geometry.lane * self._stride
        self._complaints = complaints

    def reset(self) -> None:
        """Start a batch: nothing is written yet."""
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
        """Return the byte of its thread's local memory at which a row of a place starts."""
        return int(place.offsets[row]) % self._stride


class LocalChecks:
    """Follows which bytes of local memory hold a value, for a launch of a kernel."""

    def __init__(self, space: LocalSpace, undefined: Undefined, geometry: Geometry):
        self.space = space
        self.undefined = undefined
        self.geometry = geometry

    def reset(self) -> None:
        """Start a batch."""
        self.space.reset()
        self.undefined.reset()

    def watch(self, instruction: Instruction) -> Callable[[Place], None] | None:
        """
        Return a check of the places of a load or store; None for what cannot touch local memory.
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
    """One load or store of elements of `element` bytes."""

    checks: LocalChecks
    registers: tuple[Operand, ...]
    element: int
    line: int

    def load(self, place: Place) -> None:
        """Mark what the registers take from bytes that hold no value."""
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
        """Record what a store writes, and what it only copies without a value."""
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
