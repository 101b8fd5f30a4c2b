# SPDX-License-Identifier: Apache-2.0
"""
Local memory: the arrays of each thread that do not fit its registers, and which bytes it wrote.

PTX ISA 9.0, section 5.1.5: local memory is private to a thread, and nothing initialises it. A read
of bytes that the thread has not written is reported, unless the value is only copied to other local
memory: structures are copied with their padding. The copy is then as unwritten as its source.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tilewright.codegen.simulator.findings import Findings, Kind
from tilewright.codegen.simulator.geometry import Geometry
from tilewright.codegen.simulator.kernel import Kernel
from tilewright.codegen.simulator.lanes import Integers, Lanes
from tilewright.codegen.simulator.memory import Access, Block, Complaints, Place, choose
from tilewright.codegen.simulator.operands import (
    TYPES,
    Address,
    Instruction,
    Operand,
    Register,
    Vector,
)

_OTHER_SPACES = {"global", "shared", "shared_cta", "shared_cluster", "const", "param"}
"""An instruction that names one of these cannot touch local memory."""


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


class _Carried:
    """The registers of a kernel that only carry local memory to local memory, and their origin."""

    def __init__(self, kernel: Kernel):
        self._uses: dict[str, list[tuple[Instruction, bool]]] = defaultdict(list)
        """By register: where it is read, and whether it is only moved on there."""
        self._made: dict[str, list[Instruction]] = defaultdict(list)
        for instruction in kernel.instructions:
            self._add(instruction)

    def is_copied(self, name: str) -> bool:
        """True if all that is done with the register is to store it in local memory again."""
        reached, left = {name}, [name]
        while left:
            for instruction, moved in self._uses[left.pop()]:
                if not moved:
                    return False
                targets = _registers(instruction.operands[:1]) if instruction.root == "mov" else []
                left += [target for target in targets if target not in reached]
                reached.update(targets)
        return True

    def origin(self, name: str) -> str | None:
        """The register that a load filled and whose value `name` has; None if that is not clear."""
        for _ in range(len(self._made)):
            made = self._made[name]
            if len(made) == 1 and made[0].root == "ld":
                return name
            if len(made) != 1 or made[0].root != "mov":
                return None
            source = made[0].operands[1]
            if not isinstance(source, Register):
                return None
            name = source.name
        return None

    def _add(self, instruction: Instruction) -> None:
        operands, root = instruction.operands, instruction.root
        if instruction.predicate is not None:
            self._uses[instruction.predicate.register.name].append((instruction, False))
        if root != "st":
            for name in _registers(operands[:1]):
                self._made[name].append(instruction)
        stores = root == "st" and "local" in instruction.parts
        for operand in operands[1:] if root in ("ld", "mov") else operands:
            moved = isinstance(operand, Register) if root == "mov" else stores
            for name in _registers([operand]):
                only = moved and not isinstance(operand, Address)
                self._uses[name].append((instruction, only))


class LocalChecks:
    """What is known of the values in local memory, for a launch of a kernel."""

    def __init__(self, kernel: Kernel, space: LocalSpace, geometry: Geometry, findings: Findings):
        self.space = space
        self.geometry = geometry
        self.findings = findings
        self.carried = _Carried(kernel)
        self._kept: dict[str, NDArray[np.uint8]] = {}

    def watch(self, instruction: Instruction) -> Callable[[Place], None] | None:
        """Checks of the places of a load or store; None for what cannot touch local memory."""
        root, parts = instruction.root, set(instruction.parts)
        if not self.space.size or root not in ("ld", "st") or parts & _OTHER_SPACES:
            return None
        operand = instruction.operands[1 if root == "st" else 0]
        registers = operand.items if isinstance(operand, Vector) else (operand,)
        element = TYPES[instruction.type].itemsize
        watch = _Watch(self, registers, element, instruction.line)
        return watch.load if root == "ld" else watch.store

    def kept(self, name: str, size: int) -> NDArray[np.uint8]:
        """(lanes, size): 1 for each byte of a register that a load has filled with a value."""
        if name not in self._kept or self._kept[name].shape[1] != size:
            self._kept[name] = np.ones((self.geometry.lanes, size), np.uint8)
        return self._kept[name]


@dataclass(frozen=True)
class _Watch:
    """One load or store: follows which bytes of local memory hold a value."""

    checks: LocalChecks
    registers: tuple[Operand, ...]
    element: int
    line: int

    def load(self, place: Place) -> None:
        """Report what is used of bytes that hold no value."""
        if not isinstance(place.block, LocalBlock):
            return
        marks = place.block.marks(place.offsets, self.element * len(self.registers))
        for number, register in enumerate(self.registers):
            if not isinstance(register, Register):
                continue
            start = number * self.element
            part = marks[:, start : start + self.element]
            if self.checks.carried.is_copied(register.name):
                self.checks.kept(register.name, self.element)[place.lanes.index] = part
            elif not part.all():
                row, column = np.argwhere(part == 0)[0].tolist()
                self._report(place, row, start + column)

    def store(self, place: Place) -> None:
        """Record what a store writes, and what it only copies without a value."""
        if not isinstance(place.block, LocalBlock):
            return
        defined = [self._defined(register, place.lanes) for register in self.registers]
        place.block.mark(place.offsets, np.concatenate(defined, axis=1))

    def _defined(self, register: Operand, lanes: Lanes) -> NDArray[np.uint8]:
        origin = (
            self.checks.carried.origin(register.name) if isinstance(register, Register) else None
        )
        if origin is None:
            return np.ones((lanes.count, self.element), np.uint8)
        return self.checks.kept(origin, self.element)[lanes.index]

    def _report(self, place: Place, row: int, offset: int) -> None:
        lane = int(place.lanes.numbers()[row])
        byte = self.checks.space.byte(place, row) + offset
        self.checks.findings.add(
            Kind.UNINITIALISED,
            self.line,
            f"{self.checks.geometry.name(lane)} reads byte {byte} of its local memory, which it "
            "has not written",
        )


def _registers(operands: Sequence[Operand]) -> list[str]:
    """The names of all registers, also of those in vectors and addresses."""
    names: list[str] = []
    for operand in operands:
        match operand:
            case Register(name):
                names.append(name)
            case Vector(items):
                names += _registers(items)
            case Address(base, _):
                names += _registers([base])
            case _:
                pass
    return names
