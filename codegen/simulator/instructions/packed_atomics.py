# SPDX-License-Identifier: Apache-2.0
"""
`atom` and `red` of several elements in one instruction: 16-bit floats, their pairs, and vectors.

    red.global.add.noftz.f16x2     [a], r
    atom.global.add.v4.f32         {d0, d1, d2, d3}, [a], {b0, b1, b2, b3}

Each element is updated atomically, but the whole access is not atomic. PTX ISA, "atom" and "red"
(vectors: sm_90).
"""

from dataclasses import replace

import ml_dtypes
import numpy as np

from tilewright.codegen.simulator.instructions.elementwise import Function
from tilewright.codegen.simulator.instructions.memory_access import Port
from tilewright.codegen.simulator.instructions.updates import one_after_the_other
from tilewright.codegen.simulator.lanes import Lanes
from tilewright.codegen.simulator.memory import Access, Mode, Place
from tilewright.codegen.simulator.observed import observes
from tilewright.codegen.simulator.operands import Instruction, Operand, Sink, Vector
from tilewright.codegen.simulator.registers import Values
from tilewright.codegen.simulator.scopes import scope_of
from tilewright.codegen.simulator.unit import Step, Unit, unknown

_HALVES = {"f16": np.dtype(np.float16), "bf16": np.dtype(ml_dtypes.bfloat16)}
_TYPES: dict[str, tuple[np.dtype, str, int]] = {
    "f32": (np.dtype(np.float32), "b32", 1),
    **{name: (half, "b16", 1) for name, half in _HALVES.items()},
    **{f"{name}x2": (half, "b32", 2) for name, half in _HALVES.items()},
}
"""Element type, type of a register, and number of elements in a register, by PTX type."""
_VECTORS = {"v2": 2, "v4": 4, "v8": 8}
_OPERATIONS: dict[str, Function] = {"add": np.add, "min": np.minimum, "max": np.maximum}
_MOST_BYTES = 16


def is_packed(instruction: Instruction) -> bool:
    """True if an instruction updates a vector, a 16-bit float or a pair of 16-bit floats."""
    halves = instruction.type in _TYPES and instruction.type != "f32"
    return halves or bool(_VECTORS.keys() & set(instruction.parts))


def packed_update(unit: Unit, instruction: Instruction, operation: str) -> Step:
    """Compile a packed update. Raises `SimulatorError` for a form that PTX does not have."""
    if instruction.type not in _TYPES or operation not in _OPERATIONS:
        raise unknown(instruction)
    dtype, register, packed = _TYPES[instruction.type]
    vector = [count for name, count in _VECTORS.items() if name in instruction.parts]
    count = packed * (vector or [1])[0]
    size = count * dtype.itemsize
    if size > _MOST_BYTES or (instruction.type == "f32" and operation != "add"):
        raise unknown(instruction)
    result, where, operand, *_ = (
        instruction.operands if instruction.root == "atom" else (Sink(), *instruction.operands)
    )
    observing = observes(unit.kernel, instruction)
    what = Mode.ATOMIC, size, instruction.line, scope_of(instruction)
    access = Access(*what, observes=observing, vector=count)
    port = Port(unit, instruction, where, access)
    values = [unit.registers.source(each, register) for each in _items(operand)]
    targets = [unit.registers.target(each, register) for each in _items(result)]

    def run(lanes: Lanes) -> None:
        for place in port.places(lanes):
            index = place.lanes.index
            mine = np.stack([value[index] for value in values], axis=1).view(dtype)
            old = _update(place, dtype, _OPERATIONS[operation], mine)
            for number, target in enumerate(targets):
                target[index] = old.view(target.dtype)[:, number]

    return run


def _items(operand: Operand) -> tuple[Operand, ...]:
    match operand:
        case Vector(items):
            return items
        case Sink():
            return ()
        case _:
            return (operand,)


def _update(place: Place, dtype: np.dtype, operation: Function, values: Values) -> Values:
    """Update one element after the other, and return the old values, of shape (lanes, elements)."""
    items = place.block.items(dtype.itemsize).view(dtype)
    old = np.empty_like(values)
    for number in range(values.shape[1]):
        element = replace(place, offsets=place.offsets + number * dtype.itemsize)
        mine = [values[:, number]]
        old[:, number] = one_after_the_other(items, element, operation, mine)
    return old
