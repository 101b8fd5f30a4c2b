# SPDX-License-Identifier: Apache-2.0
"""Flow of register values through the instructions of a kernel, found without running it."""

from collections.abc import Callable

from tilewright.codegen.simulator.kernel import Kernel
from tilewright.codegen.simulator.operands import Address, Instruction, Operand, Register
from tilewright.codegen.simulator.register_uses import names

_DECIDING = ("setp", "set", "selp", "slct", "vote", "match", "shfl", "redux", "bar", "barrier")
_STORING = ("st", "red", "atom", "shfl")
_MEMORY = ("ld", "ldu", "st", "atom", "red")


def decides(kernel: Kernel, register: Register) -> bool:
    """
    True if the value may decide what a thread does: it is compared, or handed to another thread.

    A value that only tells where to store, or what, decides nothing.
    """
    return _reaches(kernel, register, lambda i: i.root in _DECIDING or _hands_on(i))


def is_stored(kernel: Kernel, register: Register) -> bool:
    """True if the value, or what is computed with it, may be stored in memory."""
    return _reaches(kernel, register, lambda i: i.root in _STORING)


def _reaches(kernel: Kernel, register: Register, ends: Callable[[Instruction], bool]) -> bool:
    """True if the value, or what is computed with it, is read by an instruction that ends it."""
    reached, before = {register.name}, 0
    while len(reached) > before:
        before = len(reached)
        for instruction in kernel.instructions:
            read, written = _operands(instruction)
            if reached.isdisjoint(names(read)):
                continue
            if ends(instruction):
                return True
            reached.update(names(written))
    return False


def _hands_on(instruction: Instruction) -> bool:
    """True if the block's own threads may read what a store leaves."""
    return instruction.root == "st" and "global" not in instruction.parts


def _operands(instruction: Instruction) -> tuple[tuple[Operand, ...], tuple[Operand, ...]]:
    """Return the registers that an instruction reads, beside addresses, and those it writes."""
    operands = instruction.operands
    if instruction.root in _MEMORY:
        values = tuple(each for each in operands if not isinstance(each, Address))
        return (values, ()) if instruction.root in ("st", "red") else (values[1:], values[:1])
    return operands[1:], operands[:1]
