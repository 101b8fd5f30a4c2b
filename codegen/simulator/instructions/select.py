# SPDX-License-Identifier: Apache-2.0
"""Instructions that compare, select and move values. PTX ISA, "setp", "selp", "mov"."""

from typing import Any

import numpy as np

from tilewright.codegen.simulator.instructions.elementwise import (
    Binary,
    Function,
    Ternary,
    same,
    step,
    where,
)
from tilewright.codegen.simulator.memory import LOCAL_WINDOW, SHARED_WINDOW
from tilewright.codegen.simulator.operands import (
    TYPES,
    Instruction,
    Pair,
    Sink,
    Vector,
)
from tilewright.codegen.simulator.unit import Builder, Step, Unit, modifiers, unknown

_COMPARE: dict[str, Binary] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "lo": np.less,
    "ls": np.less_equal,
    "hi": np.greater,
    "hs": np.greater_equal,
}
_COMPARE_FLOATS: dict[str, Binary] = {
    **{name: _COMPARE[name] for name in ("eq", "lt", "le", "gt", "ge")},
    "ne": lambda a, b: (a < b) | (a > b),
    "equ": lambda a, b: ~((a < b) | (a > b)),
    "neu": np.not_equal,
    "ltu": lambda a, b: ~(a >= b),
    "leu": lambda a, b: ~(a > b),
    "gtu": lambda a, b: ~(a <= b),
    "geu": lambda a, b: ~(a < b),
    "num": lambda a, b: (a == a) & (b == b),
    "nan": lambda a, b: (a != a) | (b != b),
}
"""Comparisons of floats: with NaN, ordered ones are false, and those that end in `u` are true."""
_COMBINE: dict[str, Binary] = {
    "and": np.logical_and,
    "or": np.logical_or,
    "xor": np.logical_xor,
}


def _comparison(instruction: Instruction, types: int) -> tuple[Binary, Binary | None]:
    name, *rest = instruction.parts[1:-types]
    table = _COMPARE_FLOATS if instruction.type.startswith("f") else _COMPARE
    combine = [part for part in rest if part != "ftz"]
    if name not in table or not set(combine) <= set(_COMBINE):
        raise unknown(instruction)
    return table[name], _COMBINE[combine[0]] if combine else None


def _set_predicate(unit: Unit, instruction: Instruction) -> Step:
    """
    Compile `setp`: `p = compare(a, b)`, possibly combined with `c`; `p|q` also sets the opposite.
    """
    compare, combine = _comparison(instruction, types=1)
    target, a, b, *c = instruction.operands
    registers = unit.registers
    both = target if isinstance(target, Pair) else Pair(target, Sink())
    sources = [registers.source(x, instruction.type) for x in (a, b)]
    sources += [registers.source(x, "pred") for x in c]
    holds = step(_combined(compare, combine), registers.target(both.value, "pred"), *sources)
    if isinstance(both.predicate, Sink):
        return holds
    opposite = _combined(_negated(compare), combine)
    fails = step(opposite, registers.target(both.predicate, "pred"), *sources)

    def run(lanes: Any) -> None:
        fails(lanes)
        holds(lanes)

    return run


def _negated(compare: Binary) -> Binary:
    return lambda a, b: ~compare(a, b)


def _combined(compare: Binary, combine: Binary | None) -> Binary | Ternary:
    if combine is None:
        return compare

    def compute(a: Any, b: Any, c: Any) -> Any:
        return combine(compare(a, b), c)

    return compute


def _set(unit: Unit, instruction: Instruction) -> Step:
    """
    Compile `set`: it compares like `setp`, but writes 1.0 or all ones (false: 0) to a register.
    """
    compare, combine = _comparison(instruction, types=2)
    result = instruction.parts[-2]
    true = np.float32(1) if result == "f32" else TYPES[result].type(~np.int64(0))
    target, a, b, *c = instruction.operands
    sources = [unit.registers.source(x, instruction.type) for x in (a, b)]
    sources += [unit.registers.source(x, "pred") for x in c]
    test: Function = _combined(compare, combine)

    def compute(*values: Any) -> Any:
        return where(test(*values), true, type(true)(0))

    return step(compute, unit.registers.target(target, result), *sources)


def _select(unit: Unit, instruction: Instruction) -> Step:
    modifiers(instruction, ())
    target, a, b, chooser = instruction.operands
    registers, type = unit.registers, instruction.type
    return step(
        where,
        registers.target(target, type),
        registers.source(chooser, "pred"),
        registers.source(a, type),
        registers.source(b, type),
    )


def _select_by_sign(unit: Unit, instruction: Instruction) -> Step:
    """Compile `slct`: the first operand where the third is not negative, else the second."""
    type, chooser_type = instruction.parts[-2:]
    target, a, b, chooser = instruction.operands
    registers = unit.registers

    def compute(chosen: Any, x: Any, y: Any) -> Any:
        return where(chosen >= 0, x, y)

    return step(
        compute,
        registers.target(target, type),
        registers.source(chooser, chooser_type),
        registers.source(a, type),
        registers.source(b, type),
    )


def _move(unit: Unit, instruction: Instruction) -> Step:
    """
    Compile `mov`. It copies a register, packs several registers into one, or unpacks one into
    several.
    """
    modifiers(instruction, ())
    target, source = instruction.operands
    registers, type = unit.registers, instruction.type
    if isinstance(source, Vector):
        return _move_parts(unit, instruction, packing=True)
    if isinstance(target, Vector):
        return _move_parts(unit, instruction, packing=False)
    return step(same, registers.target(target, type), registers.source(source, type))


def _move_parts(unit: Unit, instruction: Instruction, *, packing: bool) -> Step:
    whole, parts = instruction.operands if packing else reversed(instruction.operands)
    assert isinstance(parts, Vector)
    width = TYPES[instruction.type].itemsize // len(parts.items)
    registers = unit.registers
    steps: list[Step] = []
    for place, item in enumerate(parts.items):
        if isinstance(item, Sink):
            continue
        access = registers.target if packing else registers.source
        pieces = access(whole, instruction.type).view(f"u{width}").reshape(registers.lanes, -1)
        piece = pieces[:, place]
        if packing:
            steps.append(step(same, piece, registers.source(item, f"b{8 * width}")))
        else:
            steps.append(step(same, registers.target(item, f"b{8 * width}"), piece))

    def run(lanes: Any) -> None:
        for each in steps:
            each(lanes)

    return run


_WINDOWS = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW, "global": 0, "const": 0, "param": 0}


def _convert_address(unit: Unit, instruction: Instruction) -> Step:
    """Compile `cvta`: from an address of a space to a generic address, or back (`.to`)."""
    parts = [part for part in instruction.parts[1:-1] if not part.startswith("shared_")]
    back = "to" in parts
    space = next((part for part in parts if part in _WINDOWS), "shared")
    offset = np.int64(-_WINDOWS[space] if back else _WINDOWS[space])
    target, source = instruction.operands

    def compute(address: Any) -> Any:
        return address + offset

    return step(
        compute,
        unit.registers.target(target, "s64"),
        unit.registers.source(source, "s64"),
    )


SELECT: dict[str, Builder] = {
    "setp": _set_predicate,
    "set": _set,
    "selp": _select,
    "slct": _select_by_sign,
    "mov": _move,
    "cvta": _convert_address,
}
