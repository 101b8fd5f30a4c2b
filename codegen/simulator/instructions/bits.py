# SPDX-License-Identifier: Apache-2.0
"""Logic, shifts and bit fields. PTX ISA, "Logic and Shift Instructions"."""

from typing import Any

import numpy as np

from tilewright.codegen.simulator.instructions.elementwise import Function, step, uniform, where
from tilewright.codegen.simulator.operands import TYPES, Immediate, Instruction
from tilewright.codegen.simulator.unit import Builder, Step, Unit, modifiers, unknown


def _typed(function: Function, result: str, *types: str) -> Builder:
    """
    Return a builder for an instruction that computes `function` from operands of the given types.

    A type `""` stands for the instruction's own type.
    """

    def build(unit: Unit, instruction: Instruction) -> Step:
        modifiers(instruction, ())
        target, *sources = instruction.operands
        return step(
            function,
            unit.registers.target(target, result or instruction.type),
            *(
                unit.registers.source(source, type or instruction.type)
                for source, type in zip(sources, types, strict=True)
            ),
        )

    return build


def _shift_left(x: Any, by: Any) -> Any:
    return np.left_shift(x, np.minimum(by, 8 * x.itemsize).astype(x.dtype))


def _shift_right(x: Any, by: Any) -> Any:
    """Return `x` shifted right; a signed type is filled with its sign, also by a long shift."""
    return np.right_shift(x, np.minimum(by, 8 * x.itemsize).astype(x.dtype))


def _length(x: Any) -> Any:
    """Return the position of the highest set bit, counted from 1; 0 for 0."""
    if x.itemsize == 8:
        high = (x >> 32).astype(np.uint32)
        return where(high > 0, _length(high) + 32, _length(x.astype(np.uint32)))
    exponent: Any = np.frexp(x.astype(np.float64))[1]
    return exponent


def _is_zero(x: Any) -> Any:
    return x == 0


def _leading_zeros(x: Any) -> Any:
    return 8 * x.itemsize - _length(x)


def _reverse(x: Any) -> Any:
    """Return the bits of each value in reverse order."""
    bits = np.unpackbits(x.reshape(-1, 1).view(np.uint8), axis=1, bitorder="little")
    return np.packbits(bits, axis=1, bitorder="big").view(f">u{x.itemsize}")[:, 0]


def _extract(x: Any, start: Any, length: Any) -> Any:
    """Return a bit field (`bfe`); a signed field is extended by its top bit within the word."""
    bits = 8 * x.itemsize
    start, length = start & 0xFF, length & 0xFF
    word = x.view(f"u{x.itemsize}")
    field = _shift_right(word, start) & _ones(length, x)
    if x.dtype.kind == "u":
        return field
    top: Any = np.minimum(start + length - (length > 0), bits - 1)
    negative = (_shift_right(word, top) & 1).astype(np.bool_) & (length > 0)
    inside: Any = np.minimum(length, np.maximum(bits - start.astype(np.int64), 0))
    return where(negative, field | ~_ones(inside, x), field).view(x.dtype)


def _ones(count: Any, like: Any) -> Any:
    unsigned = np.dtype(f"u{like.itemsize}")
    return ~_shift_left(np.full(len(count), ~unsigned.type(0)), count)


def _insert(field: Any, into: Any, start: Any, length: Any) -> Any:
    """Return `into` with a bit field replaced (`bfi`)."""
    start = start & 0xFF
    mask = _shift_left(_ones(length & 0xFF, into), start)
    return (into & ~mask) | (_shift_left(field, start) & mask)


def _permute(a: Any, b: Any, selector: Any) -> Any:
    """
    Return bytes picked from `a` and `b` (`prmt`): a nibble names one of eight bytes, or its sign.
    """
    octets = a.astype(np.uint64) | b.astype(np.uint64) << 32
    result = np.zeros_like(a)
    for place in range(4):
        nibble = selector >> (4 * place)
        octet = (octets >> (8 * (nibble & 7)).astype(np.uint64)) & 0xFF
        sign = where(octet & 0x80, 0xFF, 0).astype(np.uint64)
        octet = where(nibble & 8, sign, octet)
        result |= octet.astype(np.uint32) << (8 * place)
    return result


def _funnel(unit: Unit, instruction: Instruction) -> Step:
    """
    Compile `shf`: shift the 64 bits `high:low`, and keep the upper (left) or lower (right) half.
    """
    parts = modifiers(instruction, ("l", "r", "wrap", "clamp"))

    def compute(low: Any, high: Any, by: Any) -> Any:
        by = (by & 31 if "wrap" in parts else np.minimum(by, 32)).astype(np.uint64)
        both = low.astype(np.uint64) | high.astype(np.uint64) << 32
        return ((both << by) >> 32 if "l" in parts else both >> by).astype(np.uint32)

    return _typed(compute, "", "", "", "u32")(
        unit, Instruction("shf.b32", instruction.operands, None, instruction.line)
    )


def _find(unit: Unit, instruction: Instruction) -> Step:
    """
    Compile `bfind`: the place of the highest bit that differs from the sign; all ones if none does.

    With `.shiftamt`, the result is the distance of that bit from the top.
    """
    distance = "shiftamt" in modifiers(instruction, ("shiftamt",))
    bits = 8 * TYPES[instruction.type].itemsize

    def compute(x: Any) -> Any:
        if x.dtype.kind == "i":
            x = where(x < 0, ~x, x).view(f"u{x.itemsize}")
        place = _length(x).astype(np.int64) - 1
        return where(place < 0, -1, bits - 1 - place if distance else place)

    return _typed(compute, "u32", "")(
        unit, Instruction(f"bfind.{instruction.type}", instruction.operands, None, instruction.line)
    )


def _table_logic(unit: Unit, instruction: Instruction) -> Step:
    """Compile `lop3`: any function of three bits, given as a table of its eight results."""
    *operands, table = instruction.operands
    if not isinstance(table, Immediate) or instruction.opcode != "lop3.b32":
        raise unknown(instruction)
    rows = [row for row in range(8) if table.bits >> row & 1]

    def compute(a: Any, b: Any, c: Any) -> Any:
        result = np.zeros_like(a)
        for row in rows:
            result |= (a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c)
        return result

    plain = Instruction("lop3.b32", tuple(operands), None, instruction.line)
    return uniform(compute)(unit, plain)


BITS: dict[str, Builder] = {
    "and": uniform(np.bitwise_and),
    "or": uniform(np.bitwise_or),
    "xor": uniform(np.bitwise_xor),
    "not": uniform(np.invert),
    "cnot": uniform(_is_zero),
    "shl": _typed(_shift_left, "", "", "u32"),
    "shr": _typed(_shift_right, "", "", "u32"),
    "shf": _funnel,
    "bfe": _typed(_extract, "", "", "u32", "u32"),
    "bfi": _typed(_insert, "", "", "", "u32", "u32"),
    "bfind": _find,
    "brev": uniform(_reverse),
    "clz": _typed(_leading_zeros, "u32", ""),
    "popc": _typed(np.bitwise_count, "u32", ""),
    "prmt": uniform(_permute),
    "lop3": _table_logic,
}
