# SPDX-License-Identifier: Apache-2.0
"""Static analysis of how register values flow through the instructions of a kernel."""

from collections.abc import Callable

from tilewright.codegen.simulator.kernel import Kernel
from tilewright.codegen.simulator.operands import Address, Instruction, Operand, Register
from tilewright.codegen.simulator.register_uses import names

_HANDING_ON = ("shfl", "mma", "wgmma")
_DECIDING = (
    *("setp", "set", "selp", "slct", "vote", "match", "redux", "bar", "barrier"),
    *_HANDING_ON,
)
_STORING = ("st", "red", "atom", *_HANDING_ON)
_MEMORY = ("ld", "ldu", "ldmatrix", "st", "atom", "red")


def decides(kernel: Kernel, register: Register) -> bool:
    """
    True if a register's value may decide what a thread does.

    A value may decide if it is compared, or handed to another thread of the block. A value that is
    only an address, or only stored to global memory, decides nothing.
    """
    return _reaches(kernel, register, lambda i: i.root in _DECIDING or _hands_on(i))


def is_stored(kernel: Kernel, register: Register) -> bool:
    """True if the value of a register, or a value computed from it, may be stored or handed on."""
    return _reaches(kernel, register, lambda i: i.root in _STORING)


def _reaches(kernel: Kernel, register: Register, ends: Callable[[Instruction], bool]) -> bool:
    """
    True if an instruction with `ends` reads the value of a register, or a value computed from it.
    """
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
    """
    True for a store that other threads of the block may read, because it does not name `global`.
    """
    return instruction.root == "st" and "global" not in instruction.parts


def _operands(instruction: Instruction) -> tuple[tuple[Operand, ...], tuple[Operand, ...]]:
    """Return the operands that an instruction reads, except addresses, and those that it writes."""
    operands = instruction.operands
    if instruction.root in _MEMORY:
        values = tuple(each for each in operands if not isinstance(each, Address))
        return (values, ()) if instruction.root in ("st", "red") else (values[1:], values[:1])
    return operands[1:], operands[:1]
