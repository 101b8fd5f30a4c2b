# SPDX-License-Identifier: Apache-2.0
"""Instruction mix: the number of instructions in each category, and the widths of accesses."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tilewright.codegen.report.instruction import (
    ACCESSES,
    Category,
    Code,
    Instruction,
)
from tilewright.codegen.report.matrix_shape import MatrixShape
from tilewright.errors import counted

_SHOWN = 4
"""Number of categories that the repr of a mix shows."""


@dataclass(frozen=True)
class InstructionMix:
    """
    Numbers of instructions, and of accesses, in a part of a kernel's code; each instruction counts
    once.
    """

    counts: Mapping[Category, int] = field(hash=False)
    """Number of instructions by category, the largest first."""
    accesses: Mapping[tuple[Category, int], int] = field(hash=False)
    """Number of accesses by category and by the bits that a thread accesses."""
    matrices: Mapping[MatrixShape, int] = field(default_factory=dict[MatrixShape, int], hash=False)
    """Number of matrix instructions by their sizes."""

    def __repr__(self) -> str:
        most = [f"{count} {category}" for category, count in self.counts.items()]
        shown = ", ".join([*most[:_SHOWN], *(["..."] if len(most) > _SHOWN else [])])
        return f"<InstructionMix: {counted(self.total, 'instruction')}, {shown or 'none'}>"

    @property
    def total(self) -> int:
        """Number of all instructions."""
        return sum(self.counts.values())

    def count(self, *categories: Category) -> int:
        """Return the number of instructions in these categories."""
        return sum(self.counts.get(category, 0) for category in categories)

    def share(self, category: Category) -> float:
        """Return the share of a category in all instructions."""
        return self.count(category) / max(1, self.total)

    def bytes(self, *categories: Category) -> int:
        """
        Return the bytes that one thread accesses by instructions of these categories if each of
        them runs once.
        """
        return sum(n * bits // 8 for (c, bits), n in self.accesses.items() if c in categories)


def instruction_mix(code: Code, places: Iterable[int]) -> InstructionMix:
    """Return the mix of the instructions at `places`."""
    instructions = [code.instructions[place] for place in sorted(places)]
    return InstructionMix(
        dict(Counter(i.category for i in instructions).most_common()),
        _accesses(instructions),
        dict(Counter(i.matrix for i in instructions if i.matrix is not None)),
    )


def _accesses(instructions: list[Instruction]) -> dict[tuple[Category, int], int]:
    counts = Counter((i.category, i.bits) for i in instructions if i.category in ACCESSES)
    ordered = sorted(counts, key=lambda key: (ACCESSES.index(key[0]), -key[1]))
    return {key: counts[key] for key in ordered}
