# SPDX-License-Identifier: Apache-2.0
"""
Scalar functions as NumPy functions: `arith`, `math`, `prim.elementwise` and the monoids.

Tables from op classes to functions of arrays; each works on every element at once. Float
functions keep the dtype of their operands.
"""

import math as scalar_math
from collections.abc import Callable, Iterable
from typing import cast

import numpy as np
from xdsl.dialects import arith, math
from xdsl.ir import Operation

from tilewright.dialects.monoid import Monoid
from tilewright.dialects.prim import ScalarFunction
from tilewright.interpreters.types import Array

Function = Callable[..., Array]
Binary = Callable[[Array, Array], Array]


def erf(x: Array) -> Array:
    """The error function, as C's `erf` has it, which NumPy lacks."""
    values = cast(Iterable[float], map(scalar_math.erf, x.ravel().tolist()))
    return np.fromiter(values, np.float64, x.size).reshape(x.shape).astype(x.dtype)


def _rsqrt(x: Array) -> Array:
    return np.reciprocal(np.sqrt(x))


def _fma(a: Array, b: Array, c: Array) -> Array:
    """`a * b + c` with one rounding for floats up to f32, whose products float64 holds exactly."""
    return (np.multiply(a, b, dtype=np.float64) + c).astype(a.dtype)


def _round_half_away(x: Array) -> Array:
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


def _modular(function: Binary, on_bits: Binary) -> Binary:
    """Integer arithmetic that wraps, also where the integers are single bits."""
    return lambda a, b: on_bits(a, b) if a.dtype == np.bool_ else function(a, b)


def _divide_towards_zero(a: Array, b: Array) -> Array:
    return (a - np.fmod(a, b)) // b


def _ceil_divide(a: Array, b: Array) -> Array:
    return -(-a // b)


MONOIDS: dict[Monoid, np.ufunc] = {
    Monoid.ADD: np.add,
    Monoid.MUL: np.multiply,
    Monoid.MAX: np.maximum,
    Monoid.MIN: np.minimum,
}

PRIM: dict[ScalarFunction, Function] = {
    ScalarFunction.ADD: np.add,
    ScalarFunction.SUB: np.subtract,
    ScalarFunction.MUL: np.multiply,
    ScalarFunction.DIV: np.divide,
    ScalarFunction.NEG: np.negative,
    ScalarFunction.ABS: np.abs,
    ScalarFunction.EXP: np.exp,
    ScalarFunction.LOG: np.log,
    ScalarFunction.SQRT: np.sqrt,
    ScalarFunction.RSQRT: _rsqrt,
    ScalarFunction.TANH: np.tanh,
    ScalarFunction.ERF: erf,
    ScalarFunction.TRUNC: np.trunc,
    ScalarFunction.TRUNC: np.trunc,
    ScalarFunction.POW: np.power,
    ScalarFunction.FLOORDIV: np.floor_divide,
    ScalarFunction.FLOORDIV: np.floor_divide,
    ScalarFunction.MAXIMUM: np.maximum,
    ScalarFunction.MINIMUM: np.minimum,
}

ELEMENTWISE: dict[type[Operation], Function] = {
    arith.AddfOp: np.add,
    arith.SubfOp: np.subtract,
    arith.MulfOp: np.multiply,
    arith.DivfOp: np.divide,
    arith.NegfOp: np.negative,
    arith.MaximumfOp: np.maximum,
    arith.MinimumfOp: np.minimum,
    arith.MaxnumfOp: np.fmax,
    arith.MinnumfOp: np.fmin,
    arith.SelectOp: np.where,
    arith.AddiOp: _modular(np.add, np.bitwise_xor),
    arith.SubiOp: _modular(np.subtract, np.bitwise_xor),
    arith.MuliOp: _modular(np.multiply, np.bitwise_and),
    arith.DivSIOp: _divide_towards_zero,
    arith.FloorDivSIOp: np.floor_divide,
    arith.CeilDivSIOp: _ceil_divide,
    arith.RemSIOp: np.fmod,
    arith.MaxSIOp: np.maximum,
    arith.MinSIOp: np.minimum,
    arith.AndIOp: np.bitwise_and,
    arith.OrIOp: np.bitwise_or,
    arith.XOrIOp: np.bitwise_xor,
    math.AbsFOp: np.abs,
    math.AbsIOp: np.abs,
    math.Atan2Op: np.arctan2,
    math.AtanOp: np.arctan,
    math.CbrtOp: np.cbrt,
    math.CeilOp: np.ceil,
    math.CopySignOp: np.copysign,
    math.CosOp: np.cos,
    math.CoshOp: np.cosh,
    math.ErfOp: erf,
    math.Exp2Op: np.exp2,
    math.ExpM1Op: np.expm1,
    math.ExpOp: np.exp,
    math.FloorOp: np.floor,
    math.FmaOp: _fma,
    math.Log10Op: np.log10,
    math.Log1pOp: np.log1p,
    math.Log2Op: np.log2,
    math.LogOp: np.log,
    math.PowFOp: np.power,
    math.RoundEvenOp: np.rint,
    math.RoundOp: _round_half_away,
    math.RsqrtOp: _rsqrt,
    math.SinOp: np.sin,
    math.SinhOp: np.sinh,
    math.SqrtOp: np.sqrt,
    math.TanOp: np.tan,
    math.TanhOp: np.tanh,
    math.TruncOp: np.trunc,
}

CASTS: tuple[type[Operation], ...] = (
    arith.ExtFOp,
    arith.TruncFOp,
    arith.ExtSIOp,
    arith.TruncIOp,
    arith.IndexCastOp,
    arith.SIToFPOp,
    arith.FPToSIOp,
)
"""Ops whose value is the operand in the result's dtype."""


def _unordered(a: Array, b: Array) -> Array:
    return np.isnan(a) | np.isnan(b)


def _ordered_and(compare: Binary) -> Binary:
    return lambda a, b: ~_unordered(a, b) & compare(a, b)


def _unordered_or(compare: Binary) -> Binary:
    return lambda a, b: _unordered(a, b) | compare(a, b)


def _unsigned(compare: Binary) -> Binary:
    def compare_bits(a: Array, b: Array) -> Array:
        bits = np.dtype(f"u{a.itemsize}")
        return compare(a.astype(bits), b.astype(bits))

    return compare_bits


_COMPARISONS: tuple[Binary, ...] = (
    np.equal,
    np.greater,
    np.greater_equal,
    np.less,
    np.less_equal,
    np.not_equal,
)

COMPARE_FLOATS: tuple[Binary, ...] = (
    lambda a, b: np.zeros(np.broadcast_shapes(a.shape, b.shape), bool),
    *(_ordered_and(compare) for compare in _COMPARISONS),
    lambda a, b: ~_unordered(a, b),
    *(_unordered_or(compare) for compare in _COMPARISONS),
    _unordered,
    lambda a, b: np.ones(np.broadcast_shapes(a.shape, b.shape), bool),
)
"""By the predicate number of `arith.cmpf`: false, o.., ord, u.., uno, true."""

COMPARE_INTEGERS: tuple[Binary, ...] = (
    np.equal,
    np.not_equal,
    np.less,
    np.less_equal,
    np.greater,
    np.greater_equal,
    _unsigned(np.less),
    _unsigned(np.less_equal),
    _unsigned(np.greater),
    _unsigned(np.greater_equal),
)
"""By the predicate number of `arith.cmpi`: eq, ne, signed, unsigned."""
