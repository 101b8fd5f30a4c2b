# SPDX-License-Identifier: Apache-2.0
"""
How long one warp takes alone: the clocks that the compiler has put between its instructions, and
those that it waits for what it loads, shuffles or computes in a special function.

It waits where the code first names a register that is still to come, so that loads which stand
together wait together, and what stands between a load and its use hides part of the wait.
Latencies: Luo et al., "Benchmarking and Dissecting the Nvidia Hopper GPU Architecture" (2024),
memory latencies of Ampere, Ada and Hopper, which differ by a tenth; rounded.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from tilewright.codegen.report.instruction import Category, Code, Instruction

DEVICE_LATENCY = 700
"""Clocks until device memory answers (measured on an H100, as the next)."""

L2_LATENCY = 290
"""Clocks until the L2 cache answers."""

_GLOBAL = (Category.LDG, Category.LDGSTS, Category.ATOMIC)

_LATENCIES = {
    Category.LDS: 30,
    Category.LDL: 40,
    Category.SHUFFLE: 25,
    Category.SPECIAL: 20,
}

_REGISTER = re.compile(r"%?[A-Za-z]+\d+")
_FIRST_OPERANDS = re.compile(r"(?:U?P[T\d],\s*)?(\{[^}]*\}|[^,\[]*)")
_GROUPS_LEFT = re.compile(r"(?:SB\d+,\s*)?(0x[0-9a-f]+|\d+)")


def path_clocks(
    code: Code,
    places: Iterable[int],
    *,
    repeats: bool = False,
    global_latency: float = DEVICE_LATENCY,
) -> float:
    """
    Return the clocks of one warp for the instructions at `places`, one after the other.

    With `repeats` they are the body of a loop, and the clocks are those of one step of many.
    """
    instructions = [code.instructions[place] for place in sorted(places)]
    warp = _Warp(_LATENCIES | dict.fromkeys(_GLOBAL, global_latency))
    once = warp.run(instructions)
    return warp.run(instructions) - once if repeats else once


class _Warp:
    """The time of a warp, and when what it waits for will be there."""

    def __init__(self, latencies: Mapping[Category, float]):
        self.latencies = latencies
        self.now = 0.0
        self.pending: dict[str, float] = {}
        """When a register has its value."""
        self.copies: list[float] = []
        """When each group of asynchronous copies is done."""
        self.open_group = 0.0
        """When the copies are done that belong to no group yet."""

    def run(self, instructions: Iterable[Instruction]) -> float:
        """Run them; the time after that."""
        for instruction in instructions:
            self._step(instruction)
        return self.now

    def _step(self, instruction: Instruction) -> None:
        if self.pending:
            for register in _REGISTER.findall(instruction.operands):
                self.now = max(self.now, self.pending.pop(register, 0))
        self._order_copies(instruction)
        latency = self.latencies.get(instruction.category)
        if latency is not None and instruction.category is Category.LDGSTS:
            self.open_group = self.now + latency
        elif latency is not None:
            self.pending |= dict.fromkeys(_results(instruction), self.now + latency)
        self.now += instruction.clocks

    def _order_copies(self, instruction: Instruction) -> None:
        """Close a group of copies, or wait until all but the latest groups are done."""
        if instruction.opcode.startswith(("LDGDEPBAR", "cp.async.commit_group")):
            self.copies.append(self.open_group)
        if instruction.opcode.startswith(("DEPBAR.LE", "cp.async.wait_group")):
            left = _GROUPS_LEFT.match(instruction.operands)
            count = int(left[1], 0) if left else 0
            self.now = max([self.now, *self.copies[: len(self.copies) - count]])


def _results(instruction: Instruction) -> Iterator[str]:
    """
    Yield the registers that an instruction writes; in SASS a wide one names the first of a row.
    """
    first = _FIRST_OPERANDS.match(instruction.operands)
    for register in _REGISTER.findall(first[1]) if first else []:
        yield register
        if not register.startswith("%"):
            stem = register.rstrip("0123456789")
            number = int(register.removeprefix(stem))
            yield from (f"{stem}{number + n}" for n in range(1, instruction.bits // 32))
