# SPDX-License-Identifier: Apache-2.0
"""
Registers that an instruction reads and writes, and registers to which values loaded from local
memory can flow.
"""

from collections import Counter
from collections.abc import Iterable

from tilewright.codegen.simulator.kernel import Kernel
from tilewright.codegen.simulator.operands import (
    Address,
    Instruction,
    Operand,
    Pair,
    Register,
    Vector,
)

_SPACES = {"global", "shared", "shared_cta", "shared_cluster", "const", "param", "local"}
_NO_RESULT = ("st", "red", "bra", "brx", "bar", "barrier", "cp")
_ACTS = (*_NO_RESULT, "atom", "mbarrier", "shfl", "vote", "match", "redux", "mma", "wgmma")
"""
Instructions for which any undefined operand is an error. An undefined guard or address is an error
for all instructions.
"""


def may_be_local(instruction: Instruction) -> bool:
    """True for a load or store that names local memory, or no space."""
    spaces = _SPACES.intersection(instruction.parts)
    return instruction.root in ("ld", "st") and (not spaces or spaces == {"local"})


def followed(kernel: Kernel) -> set[str]:
    """Return the registers that values loaded from local memory can reach."""
    loads = [i for i in kernel.instructions if i.root == "ld" and may_be_local(i)]
    found = {name for load in loads for name in targets(load)}
    before = 0
    while len(found) != before:
        before = len(found)
        for instruction in kernel.instructions:
            if instruction.root != "ld" and found.intersection(names(instruction.operands[1:])):
                found.update(targets(instruction))
    return found


def read_registers(kernel: Kernel) -> frozenset[str]:
    """Return the registers whose values some instruction reads."""
    named: Counter[str] = Counter()
    for instruction in kernel.instructions:
        named.update(names(instruction.operands))
        named.subtract(targets(instruction))
        if instruction.predicate is not None:
            named.update(names([instruction.predicate.register]))
    return frozenset(name for name, count in named.items() if count > 0)


def targets(instruction: Instruction) -> list[str]:
    """Return the registers that an instruction writes."""
    if instruction.root in _NO_RESULT:
        return []
    return [n for o in instruction.operands[:1] if not isinstance(o, Address) for n in names([o])]


def decided(instruction: Instruction) -> list[str]:
    """
    Return the registers of which an undefined value is an error: they decide what an instruction
    does, not only its result.
    """
    acts = instruction.root in _ACTS and not may_be_local(instruction)
    return names(o for o in instruction.operands if acts or isinstance(o, Address))


def names(operands: Iterable[Operand]) -> list[str]:
    """Return the names of the registers in operands, including vectors, pairs and addresses."""
    found: list[str] = []
    for operand in operands:
        match operand:
            case Register(name):
                found.append(name)
            case Vector(items):
                found += names(items)
            case Pair(value, predicate):
                found += names([value, predicate])
            case Address(base, _):
                found += names([base])
            case _:
                pass
    return found
