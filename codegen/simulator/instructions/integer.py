# SPDX-License-Identifier: Apache-2.0
"""Integer arithmetic, which wraps as in NumPy. PTX ISA, "Integer Arithmetic Instructions"."""

from typing import Any

import numpy as np

from tilewright.codegen.simulator.instructions.elementwise import (
    Binary,
    Ternary,
    step,
    uniform,
    where,
)
from tilewright.codegen.simulator.operands import TYPES, Instruction
from tilewright.codegen.simulator.unit import Builder, Step, Unit, modifiers, unknown

_WIDER = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}


def _divide(a: Any, b: Any) -> Any:
    """Return the quotient rounded towards zero; by zero, all ones, as on NVIDIA's hardware."""
    divisor: Any = where(b == 0, 1, b)
    quotient = a // divisor
    if a.dtype.kind == "i":
        quotient += (a % divisor != 0) & ((a < 0) != (b < 0))
    return where(b == 0, ~np.zeros_like(a), quotient)


def _remainder(a: Any, b: Any) -> Any:
    """Return the remainder with the sign of `a`; by zero, `a` itself."""
    return where(b == 0, a, np.fmod(a, where(b == 0, 1, b)))


def high_half(a: Any, b: Any) -> Any:
    """Return the upper half of a product."""
    bits = 8 * a.dtype.itemsize
    if bits < 64:
        wide = np.int64 if a.dtype.kind == "i" else np.uint64
        return (a.astype(wide) * b.astype(wide) >> bits).astype(a.dtype)
    high = _high_unsigned(a.view(np.uint64), b.view(np.uint64)).view(a.dtype)
    if a.dtype.kind == "i":
        high = high - where(a < 0, b, 0) - where(b < 0, a, 0)
    return high


def _high_unsigned(a: Any, b: Any) -> Any:
    low_bits = np.uint64(0xFFFFFFFF)
    a1, a0, b1, b0 = a >> 32, a & low_bits, b >> 32, b & low_bits
    middle = a1 * b0 + (a0 * b0 >> 32)
    return a1 * b1 + (middle >> 32) + ((a0 * b1 + (middle & low_bits)) >> 32)


def _product(unit: Unit, instruction: Instruction) -> Step:
    """Compile `mul` or `mad`, which keeps the lower half, the upper half or the whole product."""
    (half,) = modifiers(instruction, ("lo", "hi", "wide")) or {"lo"}
    type = instruction.type
    if half == "wide" and type not in _WIDER:
        raise unknown(instruction)
    result = _WIDER[type] if half == "wide" else type
    target, a, b, *addend = instruction.operands
    registers = unit.registers
    return step(
        _multiply_add(half, TYPES[result]) if addend else _multiply(half, TYPES[result]),
        registers.target(target, result),
        registers.source(a, type),
        registers.source(b, type),
        *(registers.source(c, result) for c in addend),
    )


def _multiply(half: str, result: np.dtype) -> Binary:
    if half == "wide":
        return lambda a, b: a.astype(result) * b
    return np.multiply if half == "lo" else high_half


def _multiply_add(half: str, result: np.dtype) -> Ternary:
    multiply = _multiply(half, result)
    return lambda a, b, c: multiply(a, b) + c


def _dot_product(unit: Unit, instruction: Instruction) -> Step:
    """
    Compile `dp4a`, of four bytes each, or `dp2a`, of two halves and the lower or upper two bytes.
    """
    *mode, a_type, b_type = instruction.parts[1:]
    modes: list[list[str]] = [["lo"], ["hi"]] if instruction.root == "dp2a" else [[]]
    if mode not in modes or not {a_type, b_type} <= {"u32", "s32"}:
        raise unknown(instruction)
    count = 2 if mode else 4
    first = 2 if mode == ["hi"] else 0
    result = "s32" if "s32" in (a_type, b_type) else "u32"

    def function(a: Any, b: Any, c: Any) -> Any:
        left = _parts(a, f"{a_type[0]}{4 // count}")
        right = _parts(b, f"{b_type[0]}1")[:, first : first + count]
        return ((left * right).sum(axis=1) + c).astype(TYPES[result])

    target, a, b, c = instruction.operands
    registers = unit.registers
    return step(
        function,
        registers.target(target, result),
        registers.source(a, a_type),
        registers.source(b, b_type),
        registers.source(c, result),
    )


def _parts(words: Any, part: str) -> Any:
    """Return the parts of each word, lowest first; `u1` is an unsigned byte, `s2` a signed half."""
    dtype = np.dtype(part.replace("s", "i"))
    return words.reshape(-1, 1).view(dtype).astype(np.int64)


INTEGER: dict[str, Builder] = {
    "add": uniform(np.add),
    "sub": uniform(np.subtract),
    "mul": _product,
    "mad": _product,
    "div": uniform(_divide),
    "rem": uniform(_remainder),
    "neg": uniform(np.negative),
    "abs": uniform(np.absolute),
    "min": uniform(np.minimum),
    "max": uniform(np.maximum),
    "dp2a": _dot_product,
    "dp4a": _dot_product,
}
"""Builders for the integer types, by opcode root."""
