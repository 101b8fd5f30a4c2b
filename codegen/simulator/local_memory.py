# SPDX-License-Identifier: Apache-2.0
"""
Local memory: the arrays of each thread that do not fit its registers, and which bytes it wrote.

PTX ISA 9.0, section 5.1.5: local memory is private to a thread, and nothing initialises it. What a
thread reads before it has written is undefined: `undefined.py` reports what is done with it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tilewright.codegen.simulator.geometry import Geometry
from tilewright.codegen.simulator.lanes import Integers, Lanes
from tilewright.codegen.simulator.memory import Access, Block, Complaints, Place, choose
from tilewright.codegen.simulator.operands import TYPES, Instruction, Operand, Vector
from tilewright.codegen.simulator.undefined import Undefined, may_be_local


class LocalBlock(Block):
    """The local memory of all lanes; `written` has a byte of 1 for each byte that was written."""

    def __init__(self, bytes: int):
        super().__init__(np.zeros(bytes, np.uint8))
        self.written = Block(np.zeros(bytes, np.uint8))

    def mark(self, offsets: Integers, defined: NDArray[np.uint8]) -> None:
        """Record stores; `defined` (lanes, bytes) has 1 for each byte that holds a value."""
        size = defined.shape[1]
        items = self.written.items(size)
        items[offsets // size] = defined.view(items.dtype)[:, 0]

    def marks(self, offsets: Integers, size: int) -> NDArray[np.uint8]:
        """(lanes, size): 1 for each byte that holds a value."""
        found = np.take(self.written.items(size), offsets // size, mode="clip")
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
        self._block.written.data[:] = 0

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
        """The byte of its thread's local memory at which a row of a place starts."""
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
        """A check of the places of a load or store; None for what cannot touch local memory."""
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
        count = len(self.registers)
        marks = np.ones((place.lanes.count, count * self.element), np.uint8)
        if isinstance(place.block, LocalBlock):
            marks = place.block.marks(place.offsets, count * self.element)
        complete, text = bool(marks.all()), ""
        if not complete:
            text = self._text(place, *np.argwhere(marks == 0)[0].tolist())
        for number, register in enumerate(self.registers):
            part = marks[:, number * self.element : (number + 1) * self.element]
            bits = (1 - part.astype(np.int64)) << np.arange(self.element)
            missing = bits.sum(axis=1)
            self.checks.undefined.loaded(register, place.lanes, missing, self.line, text)

    def store(self, place: Place) -> None:
        """Record what a store writes, and what it only copies without a value."""
        if not isinstance(place.block, LocalBlock):
            return
        undefined = self.checks.undefined
        defined = [undefined.bytes_of(r, place.lanes, self.element) for r in self.registers]
        place.block.mark(place.offsets, np.concatenate(defined, axis=1))

    def _text(self, place: Place, row: int, column: int) -> str:
        lane = int(place.lanes.numbers()[row])
        byte = self.checks.space.byte(place, row) + column
        name = self.checks.geometry.name(lane)
        return f"{name} reads byte {byte} of its local memory, which it has not written"
