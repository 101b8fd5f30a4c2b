# SPDX-License-Identifier: Apache-2.0
"""
Estimate of the clocks that one warp takes if it is alone on an SM.

The clocks are the stall counts that the compiler put between instructions, and waits for results of
loads, shuffles and special functions. A warp waits at the first instruction that names a register
whose value is pending. Consecutive loads therefore wait together, and instructions between a load
and its use hide part of the wait.

Latencies of memory: Luo et al., "Benchmarking and Dissecting the Nvidia Hopper GPU Architecture"
(2024), for Ampere, Ada and Hopper, which differ by a tenth; rounded.

Latencies of matrix instructions were not measured on the targets of this project. Others measured
34 clocks between dependent `HMMA` on an RTX 5070 Ti, and 20 on a B300.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from tilewright.codegen.report.instruction import Category, Code, Instruction

DEVICE_LATENCY = 700
"""Latency of device memory in clocks, measured on an H100."""

L2_LATENCY = 290
"""Latency of the L2 cache in clocks, measured on an H100."""

_GLOBAL = (Category.LDG, Category.LDGSTS, Category.ATOMIC)

_LATENCIES = {
    Category.LDS: 30,
    Category.LDSM: 33,
    Category.HMMA: 33,
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
    Return the clocks that one warp takes for the instructions at `places`, in order.

    With `repeats` the instructions are the body of a loop, and the result is the clocks of one step
    after the first.
    """
    instructions = [code.instructions[place] for place in sorted(places)]
    warp = _Warp(_LATENCIES | dict.fromkeys(_GLOBAL, global_latency))
    once = warp.run(instructions)
    return warp.run(instructions) - once if repeats else once


class _Warp:
    """State of one warp: its clock, and the times at which its pending results arrive."""

    def __init__(self, latencies: Mapping[Category, float]):
        self.latencies = latencies
        self.now = 0.0
        self.pending: dict[str, float] = {}
        """Time at which the value of each pending register arrives, by the register's name."""
        self.copies: list[float] = []
        """Time at which each committed group of asynchronous copies is done."""
        self.open_group = 0.0
        """Time at which the copies that are not committed to a group yet are done."""

    def run(self, instructions: Iterable[Instruction]) -> float:
        """Run instructions; return the time after them."""
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
        """
        If the instruction commits a group of asynchronous copies, record it. If it waits for
        groups, advance the clock until all but the latest ones are done.
        """
        if instruction.opcode.startswith(("LDGDEPBAR", "cp.async.commit_group")):
            self.copies.append(self.open_group)
        if instruction.opcode.startswith(("DEPBAR.LE", "cp.async.wait_group")):
            left = _GROUPS_LEFT.match(instruction.operands)
            count = int(left[1], 0) if left else 0
            self.now = max([self.now, *self.copies[: len(self.copies) - count]])


def _results(instruction: Instruction) -> Iterator[str]:
    """
    Yield the registers that an instruction writes; a wide SASS operand names the first of several.
    """
    first = _FIRST_OPERANDS.match(instruction.operands)
    for register in _REGISTER.findall(first[1]) if first else []:
        yield register
        if not register.startswith("%"):
            stem = register.rstrip("0123456789")
            number = int(register.removeprefix(stem))
            yield from (f"{stem}{number + n}" for n in range(1, _width(instruction)))


def _width(instruction: Instruction) -> int:
    """Return the number of consecutive registers that an instruction writes."""
    if instruction.matrix is not None:
        return instruction.matrix.sum_registers
    return instruction.bits // 32
