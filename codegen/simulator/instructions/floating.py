# SPDX-License-Identifier: Apache-2.0
"""
Floating-point arithmetic. PTX ISA, "Floating Point Instructions".

`.rn` and the directed roundings are exact. The `.approx` forms are correctly rounded here; hardware
may be off by one or two units in the last place.
"""

from typing import Any

import numpy as np

from tilewright.codegen.simulator.instructions.elementwise import (
    Binary,
    Function,
    Ternary,
    Unary,
    step,
    where,
)
from tilewright.codegen.simulator.lanes import Lanes
from tilewright.codegen.simulator.operands import Instruction
from tilewright.codegen.simulator.unit import Builder, Step, Unit, modifiers, unknown
from tilewright.rounding import directed, directed_64, fma64, two_sum

_ROUNDINGS = {"rn", "rz", "rm", "rp"}
_SMALLEST_NORMAL = np.float32(2.0**-126)


def _in_float64(function: Unary) -> Unary:
    return lambda x: function(x.astype(np.float64)).astype(x.dtype)


def _inverse_root(x: Any) -> Any:
    return 1 / np.sqrt(x)


def _maximum(function: Binary, bits: Binary) -> Binary:
    """
    Return a version of the maximum or minimum `function` for which +0 is larger than -0.

    `bits` is the operation that gives the right zero from the bits of two zeros.
    """

    def compute(a: Any, b: Any) -> Any:
        result = function(a, b)
        zeros = (result == 0) & (a == b)
        if zeros.any():
            integers = f"u{a.itemsize}"
            signed: Any = bits(a.view(integers), b.view(integers)).view(a.dtype)
            result = where(zeros, signed, result)
        return result

    return compute


def _reciprocal(x: Any) -> Any:
    return x.dtype.type(1) / x


def _exact_root(a: Any) -> tuple[Any, float]:
    return np.sqrt(a), 0.0


def _exact_difference(a: Any, b: Any) -> Any:
    return two_sum(a, -b)


EXACT: dict[str, Unary | Binary] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "sqrt": np.sqrt,
    "rcp": _reciprocal,
    "neg": np.negative,
    "abs": np.absolute,
    "copysign": lambda sign, magnitude: np.copysign(magnitude, sign),
}
APPROXIMATE: dict[str, Unary | Binary] = {
    "div": np.divide,
    "sqrt": np.sqrt,
    "rcp": _reciprocal,
    "rsqrt": _in_float64(_inverse_root),
    "ex2": _in_float64(np.exp2),
    "lg2": _in_float64(np.log2),
    "sin": _in_float64(np.sin),
    "cos": _in_float64(np.cos),
    "tanh": _in_float64(np.tanh),
}
DIRECTED: dict[str, Unary | Binary | Ternary] = {
    "add": two_sum,
    "sub": _exact_difference,
    "mul": lambda a, b: (a * b, 0.0),
    "fma": lambda a, b, c: two_sum(a * b, c),
    "mad": lambda a, b, c: two_sum(a * b, c),
    "div": lambda a, b: (a / b, 0.0),
    "rcp": lambda a: (1 / a, 0.0),
    "sqrt": _exact_root,
}
"""
Functions that compute a float64 result and its error, by opcode root; the result is then rounded to
float32.

An inexact quotient or root is too far from every float32 for its own rounding to matter.
"""

_DIRECTED_64: dict[str, Binary] = {"add": two_sum, "sub": _exact_difference}
"""Functions that compute a float64 result and its rounding error, by opcode root."""

_MAXIMA: dict[tuple[str, bool], Binary] = {
    ("max", False): _maximum(np.fmax, np.bitwise_and),
    ("max", True): _maximum(np.maximum, np.bitwise_and),
    ("min", False): _maximum(np.fmin, np.bitwise_or),
    ("min", True): _maximum(np.minimum, np.bitwise_or),
}
"""Functions for maxima and minima, by opcode root and by whether NaN wins."""


def _function(instruction: Instruction, parts: set[str]) -> Function:
    root, single = instruction.root, instruction.type == "f32"
    rounding = parts & _ROUNDINGS or {"rn"}
    if root in ("max", "min"):
        found = _MAXIMA[root, "NaN" in parts]
        return _of_magnitudes(found) if "xorsign" in parts else found
    if root in APPROXIMATE and parts & {"approx", "full"}:
        return APPROXIMATE[root]
    if rounding == {"rn"} and root in EXACT:
        return EXACT[root]
    if single and root in DIRECTED:
        (mode,) = rounding
        return _directed(DIRECTED[root], mode)
    if not single and root in _DIRECTED_64:
        (mode,) = rounding
        return _directed_64(_DIRECTED_64[root], mode)
    if root in ("fma", "mad") and rounding == {"rn"}:
        return fma64
    raise unknown(instruction)


def _directed(function: Function, mode: str) -> Function:
    def compute(*values: Any) -> Any:
        exact = function(*[value.astype(np.float64) for value in values])
        return directed(exact[0], exact[1], mode)

    return compute


def _directed_64(function: Binary, mode: str) -> Binary:
    def compute(a: Any, b: Any) -> Any:
        total, error = function(a, b)
        return directed_64(total, error, mode)

    return compute


def _flushed(function: Function) -> Function:
    """
    Return a version of `function` with `.ftz`: subnormal operands and results become zeros of the
    same sign.
    """

    def flush(x: Any) -> Any:
        return where(np.abs(x) < _SMALLEST_NORMAL, np.copysign(np.float32(0), x), x)

    def compute(*values: Any) -> Any:
        return flush(function(*[flush(value) for value in values]))

    return compute


def saturate(x: Any) -> Any:
    """Return values clamped to [0, 1] (`.sat`); NaN becomes +0."""
    return where(x > 0, np.minimum(x, x.dtype.type(1)), x.dtype.type(0))


def _saturated(function: Function) -> Function:
    def compute(*values: Any) -> Any:
        return saturate(function(*values))

    return compute


def _of_magnitudes(function: Binary) -> Binary:
    """
    Return `function` of magnitudes, with the sign of the product of both values (`.xorsign.abs`).
    """

    def compute(a: Any, b: Any) -> Any:
        sign = np.signbit(a) != np.signbit(b)
        magnitude = function(np.abs(a), np.abs(b))
        return where(sign, -magnitude, magnitude)

    return compute


def _arithmetic(unit: Unit, instruction: Instruction) -> Step:
    allowed = _ROUNDINGS | {"ftz", "sat", "approx", "full", "NaN", "xorsign", "abs"}
    parts = modifiers(instruction, allowed)
    target, *sources = instruction.operands
    type = instruction.type
    result = unit.registers.target(target, type)
    values = [unit.registers.source(source, type) for source in sources]
    nearest = not parts - {"rn"}
    if instruction.root in ("fma", "mad") and type == "f32" and nearest:
        return _fused(unit, result, *values)
    function = _function(instruction, parts)
    if "ftz" in parts:
        function = _flushed(function)
    if "sat" in parts:
        function = _saturated(function)
    return step(function, result, *values)


def _fused(unit: Unit, target: Any, a: Any, b: Any, c: Any) -> Step:
    fma = unit.fma

    def run(lanes: Lanes) -> None:
        index = lanes.index
        if isinstance(index, slice):
            fma(a[index], b[index], c[index], target[index])
            return
        result = np.empty(lanes.count, np.float32)
        fma(a[index], b[index], c[index], result)
        target[index] = result

    return run


def _is_number(x: Any) -> Any:
    return ~np.isnan(x)


def _is_subnormal(x: Any) -> Any:
    return (x != 0) & (np.abs(x) < np.finfo(x.dtype).smallest_normal)


def _is_normal(x: Any) -> Any:
    return np.isfinite(x) & (x != 0) & ~_is_subnormal(x)


_TESTS: dict[str, Unary] = {
    "finite": np.isfinite,
    "infinite": np.isinf,
    "number": _is_number,
    "notanumber": np.isnan,
    "normal": _is_normal,
    "subnormal": _is_subnormal,
}


def _test(unit: Unit, instruction: Instruction) -> Step:
    (what,) = modifiers(instruction, _TESTS)
    target, source = instruction.operands
    return step(
        _TESTS[what],
        unit.registers.target(target, "pred"),
        unit.registers.source(source, instruction.type),
    )


_ROOTS = sorted({*EXACT, *APPROXIMATE, *DIRECTED, "max", "min"})
FLOATING: dict[str, Builder] = {**dict.fromkeys(_ROOTS, _arithmetic), "testp": _test}
"""Builders for the types f32 and f64, by opcode root."""
