# SPDX-License-Identifier: Apache-2.0
"""
Races between strong accesses that are not morally strong.

Two strong accesses do not race if each one's scope includes the other's thread, and they overlap
completely (PTX ISA, "Morally Strong Operations"). Otherwise an update may be lost, or partly seen:

    atom.add.relaxed.cta.u32      on one place, by threads of two blocks
    atom.add.u64 and ld.volatile.u32    on one place, the second on its upper half

The elements of a vector are accessed one by one ("Vector Data-types"), and accesses are aligned.
Two of them therefore overlap completely if their elements have the same size.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tilewright.codegen.simulator.crowds import AccessLog, Stamps
from tilewright.codegen.simulator.geometry import Geometry
from tilewright.codegen.simulator.kernel import Kernel
from tilewright.codegen.simulator.lanes import Booleans, Integers
from tilewright.codegen.simulator.memory import Access, Mode
from tilewright.codegen.simulator.operands import TYPES, Instruction
from tilewright.codegen.simulator.scopes import Level, level_of, scope_of

_ELEMENT_BYTES = {
    **{name: dtype.itemsize for name, dtype in TYPES.items()},
    **dict.fromkeys(("bf16", "f16x2", "bf16x2"), 2),
}
_ACCESSES = ("ld", "st", "atom", "red")


def are_mixed(kernel: Kernel, other_spaces: set[str]) -> bool:
    """
    True if strong accesses of a kernel may race with each other, judged by their scopes and element
    sizes.

    Accesses that name one of `other_spaces` are ignored.
    """
    strong = [
        (level_of(scope), _ELEMENT_BYTES[instruction.type])
        for instruction in kernel.instructions
        if instruction.root in _ACCESSES
        and (scope := scope_of(instruction)) is not None
        and instruction.type in _ELEMENT_BYTES
        and not _spaces(instruction) & other_spaces
    ]
    return len(set(strong)) > 1 or any(level < Level.DEVICE for level, _ in strong)


def _spaces(instruction: Instruction) -> set[str]:
    return {part.partition("_")[0] for part in instruction.parts}


@dataclass(frozen=True, order=True)
class _Kind:
    reads: bool
    level: Level
    size: int


class StrongAccesses:
    """
    Strong accesses to `count` cells, by kind, scope and size.

    `who` masks the bits of a stamp that name the thread. `thread` returns the numbers of these
    threads, which count through the blocks.
    """

    def __init__(
        self, count: int, geometry: Geometry, who: int, thread: Callable[[Stamps], Integers]
    ):
        self._count = count
        self._width = geometry.width
        self._members = geometry.width * geometry.cluster_blocks
        self._who = who
        self._thread = thread
        self._crowds: dict[_Kind, AccessLog] = {}

    def add(
        self, cells: Integers, stamps: Stamps, access: Access, knowledge: Integers
    ) -> tuple[Integers, Stamps]:
        """
        Record strong accesses to cells. Return the earlier ones that are not morally strong with
        them.

        `knowledge` has a number for what each thread knows. The result is pairs: an index into
        `cells`, and the stamp of an earlier access by another thread.
        """
        kind = _Kind(access.mode is Mode.LOAD, level_of(access.strong), access.element)
        if kind not in self._crowds:
            self._crowds[kind] = AccessLog(self._count, self._who, _all)
        self._crowds[kind].add(cells, stamps)
        pairs = [
            self._pairs(kind, other, cells, stamps, knowledge)
            for other in sorted(self._crowds)
            if not (kind.reads and other.reads)
        ]
        none = np.zeros(0, np.int64)
        places, found = zip((none, none), *pairs, strict=True)
        return np.concatenate(places), np.concatenate(found)

    def refine(self, parts: int) -> None:
        """Split each cell into `parts` cells."""
        self._count *= parts
        for crowd in self._crowds.values():
            crowd.refine(parts)

    def _pairs(
        self, kind: _Kind, other: _Kind, cells: Integers, stamps: Stamps, knowledge: Integers
    ) -> tuple[Integers, Stamps]:
        places, before = self._crowds[other].earlier(cells, knowledge)
        here, there = self._thread(stamps[places]), self._thread(before)
        apart = here != there
        if kind.size == other.size:
            apart &= self._are_outside(min(kind.level, other.level), here, there)
        return places[apart], before[apart]

    def _are_outside(self, level: Level, here: Integers, there: Integers) -> Booleans:
        """True where a scope of the level does not include both threads."""
        if level is Level.DEVICE:
            return np.zeros(len(here), np.bool_)
        group = self._width if level is Level.BLOCK else self._members
        return here // group != there // group


def _all(cells: Integers, _: Stamps) -> Booleans:
    return np.ones(len(cells), np.bool_)
