# SPDX-License-Identifier: Apache-2.0
"""`cvt`: conversion between integers and floats of all sizes. PTX ISA, "cvt"."""

from typing import Any

import numpy as np

from tilewright.codegen.simulator.instructions.elementwise import Unary, step, where
from tilewright.codegen.simulator.instructions.floating import saturate
from tilewright.codegen.simulator.operands import TYPES, Instruction
from tilewright.codegen.simulator.unit import Builder, Step, Unit, modifiers, unknown
from tilewright.rounding import directed

_TO_INTEGRAL: dict[str, Unary] = {
    "rni": np.rint,
    "rzi": np.trunc,
    "rmi": np.floor,
    "rpi": np.ceil,
}
_ROUNDINGS = ("rn", "rz", "rm", "rp")
_BITS16 = {"bf16": "b16"}


def from_bfloat16(bits: Any) -> Any:
    """Return the float32 values whose upper halves are given as 16 bits."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def to_bfloat16(x: Any, mode: str = "rn") -> Any:
    """Return the 16 bits of a bfloat16, rounded to nearest even or towards zero; NaN stays NaN."""
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    rounded = bits + (0x7FFF + (bits >> 16 & 1)) if mode == "rn" else bits
    return where(np.isnan(x), 0x7FFF, rounded >> 16).astype(np.uint16)


def _to_tf32(x: Any) -> Any:
    """Return the bits of a float32 rounded to TF32: ten bits of mantissa, ties away from zero."""
    bits = x.view(np.uint32)
    rounded: Any = (bits + 0x1000) & 0xFFFFE000
    return where(np.isfinite(x), rounded, bits)


def _to_integer(target: np.dtype, source: np.dtype) -> Unary:
    """
    Return a conversion from floats to integers.

    A value out of range becomes the nearest bound. NaN becomes 0, or the sign bit if either type
    has 64 bits.
    """
    low, high = np.iinfo(target).min, np.iinfo(target).max
    nan = 1 << (8 * target.itemsize - 1) if 8 in (target.itemsize, source.itemsize) else 0
    nan_value = np.array(nan, f"u{target.itemsize}").view(target)[()]

    def compute(x: Any) -> Any:
        x = x.astype(np.float64)
        too_high, too_low = x >= float(high), x <= float(low)
        inside = where(too_high | too_low | np.isnan(x), 0, x).astype(target)
        bounded = where(too_high, high, where(too_low, low, inside)).astype(target)
        return where(np.isnan(x), nan_value, bounded)

    return compute


def _between_integers(target: np.dtype, clamp: bool) -> Unary:
    bounds = np.iinfo(target)

    def compute(x: Any) -> Any:
        if not clamp:
            return x.astype(target)
        own = np.iinfo(x.dtype)
        return np.clip(x, max(bounds.min, own.min), min(bounds.max, own.max)).astype(target)

    return compute


def _to_float(target: str, mode: str) -> Unary:
    """Return a conversion from integers or floats to a float, rounded once."""

    def compute(x: Any) -> Any:
        if target == "bf16":
            return to_bfloat16(x, mode)
        if mode == "rn":
            return x.astype(TYPES[target])
        return directed(x.astype(np.float64), 0.0, mode)

    return compute


def _supported(target: str, source: str, mode: str) -> bool:
    """
    True if a rounding mode is supported for a conversion to a float.

    Directed rounding goes through float64, which must hold the source exactly.
    """
    if target == "bf16":
        return source == "f32" and mode in ("rn", "rz")
    return mode == "rn" or (target == "f32" and TYPES[source].itemsize <= 4) or source == "f64"


def _function(instruction: Instruction, target: str, source: str, parts: set[str]) -> Unary:
    integral = [_TO_INTEGRAL[part] for part in parts if part in _TO_INTEGRAL]
    mode = next((part for part in parts if part in _ROUNDINGS), "rn")
    to_float = target[0] in "fb"
    from_float = source[0] in "fb"
    if not to_float and not from_float:
        return _between_integers(TYPES[target], "sat" in parts)
    if not to_float:
        if not integral:
            raise unknown(instruction)
        convert = _to_integer(TYPES[target], TYPES[_BITS16.get(source, source)])
    elif _supported(target, source, mode):
        convert = _to_float(target, mode)
    else:
        raise unknown(instruction)
    if source == "bf16":
        convert = _after(from_bfloat16, convert)
    if integral:
        convert = _after(integral[0], convert)
    return _after(convert, saturate) if to_float and "sat" in parts else convert


def _after(first: Unary, then: Unary) -> Unary:
    return lambda x: then(first(x))


def _convert(unit: Unit, instruction: Instruction) -> Step:
    parts = modifiers(instruction, (*_ROUNDINGS, *_TO_INTEGRAL, "sat", "rna", "ftz"), types=2)
    target_type, source_type = instruction.parts[-2:]
    registers = unit.registers
    if target_type in ("bf16x2", "f16x2"):
        return _packed(unit, instruction, target_type[:-2], source_type)
    target, source = instruction.operands
    if "rna" in parts or target_type == "tf32":
        if instruction.parts[1:] != ["rna", "tf32", "f32"]:
            raise unknown(instruction)
        value = registers.source(source, "f32")
        return step(_to_tf32, registers.target(target, "b32"), value)
    value = registers.source(source, _BITS16.get(source_type, source_type))
    return step(
        _function(instruction, target_type, source_type, parts),
        registers.widened(target, _BITS16.get(target_type, target_type)),
        value,
    )


def _packed(unit: Unit, instruction: Instruction, half: str, source_type: str) -> Step:
    """
    Compile a conversion of two float32 into one register; the first operand is the upper half.
    """
    target, upper, lower = instruction.operands
    if source_type != "f32" or "rn" not in instruction.parts:
        raise unknown(instruction)

    def bits(x: Any) -> Any:
        return to_bfloat16(x) if half == "bf16" else x.astype(np.float16).view(np.uint16)

    def compute(high: Any, low: Any) -> Any:
        return bits(high).astype(np.uint32) << 16 | bits(low)

    return step(
        compute,
        unit.registers.target(target, "b32"),
        unit.registers.source(upper, "f32"),
        unit.registers.source(lower, "f32"),
    )


CONVERT: dict[str, Builder] = {"cvt": _convert}
