# SPDX-License-Identifier: Apache-2.0
"""
`atom` and `red`: updates that no other thread can interrupt. PTX ISA, "atom" and "red".

Lanes that update one place act one after the other: lanes of a block by their numbers, blocks in a
scattered order.
"""

from typing import Any

import numpy as np

from tilewright.codegen.simulator.instructions.elementwise import Function, where
from tilewright.codegen.simulator.instructions.memory_access import Port
from tilewright.codegen.simulator.instructions.packed_atomics import is_packed, packed_update
from tilewright.codegen.simulator.instructions.updates import one_after_the_other
from tilewright.codegen.simulator.lanes import Lanes
from tilewright.codegen.simulator.memory import Access, Mode
from tilewright.codegen.simulator.observed import observes
from tilewright.codegen.simulator.operands import TYPES, Instruction, Register
from tilewright.codegen.simulator.scopes import scope_of
from tilewright.codegen.simulator.unit import Builder, Step, Unit, modifiers, unknown

_ACCUMULATE: dict[str, np.ufunc] = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


def _exchange(old: Any, new: Any) -> Any:
    return new


def _compare_and_swap(old: Any, expected: Any, new: Any) -> Any:
    return where(old == expected, new, old)


def _increment(old: Any, limit: Any) -> Any:
    """Return the old value plus 1, or 0 if it has reached the limit."""
    return where(old >= limit, 0, old + 1).astype(old.dtype)


def _decrement(old: Any, limit: Any) -> Any:
    """Return the old value minus 1, or the limit if it is 0 or above the limit."""
    return where((old == 0) | (old > limit), limit, old - 1).astype(old.dtype)


_UPDATE: dict[str, Function] = {
    **_ACCUMULATE,
    "exch": _exchange,
    "cas": _compare_and_swap,
    "inc": _increment,
    "dec": _decrement,
}
"""Functions from the old value and the operands to the new value, by operation."""
_ALLOWED = (
    *(
        "global",
        "shared",
        "shared_cta",
        "shared_cluster",
        "relaxed",
        "acquire",
        "release",
        "acq_rel",
    ),
    *("cta", "cluster", "gpu", "sys", "noftz", "L2_cache_hint", "v2", "v4", "v8"),
)


def _is_read(unit: Unit, register: Register) -> bool:
    """True if any instruction uses the register's value."""
    own = 0
    for instruction in unit.kernel.instructions:
        uses = instruction.operands[1:] if instruction.root != "st" else instruction.operands
        own += register in uses or register.name in str(uses)
    return own > 0


def _atomic(unit: Unit, instruction: Instruction) -> Step:
    parts = modifiers(instruction, (*_UPDATE, *_ALLOWED))
    operations = [part for part in _UPDATE if part in parts]
    if len(operations) != 1:
        raise unknown(instruction)
    operation = operations[0]
    if is_packed(instruction):
        return packed_update(unit, instruction, operation)
    dtype = TYPES[instruction.type]
    operands = list(instruction.operands)
    result = operands.pop(0) if instruction.root == "atom" else None
    keeps = isinstance(result, Register) and _is_read(unit, result)
    target = unit.registers.target(result, dtype) if keeps and result is not None else None
    scope, observing = scope_of(instruction), observes(unit.kernel, instruction)
    access = Access(Mode.ATOMIC, dtype.itemsize, instruction.line, scope, observes=observing)
    port = Port(unit, instruction, operands[0], access)
    values = [unit.registers.source(operand, dtype) for operand in operands[1:]]
    accumulate = _ACCUMULATE.get(operation) if target is None else None

    def run(lanes: Lanes) -> None:
        for place in port.places(lanes):
            index = place.lanes.index
            mine = [value[index] for value in values]
            items = place.block.items(dtype.itemsize).view(dtype)
            if accumulate is not None:
                accumulate.at(items, place.offsets // dtype.itemsize, mine[0])
                continue
            at = place.offsets // dtype.itemsize
            before = items[at]
            old = one_after_the_other(items, place, _UPDATE[operation], mine)
            unit.atomics.changes += bool((items[at] != before).any())
            if target is not None:
                target[index] = old

    return run


ATOMICS: dict[str, Builder] = {"atom": _atomic, "red": _atomic}
