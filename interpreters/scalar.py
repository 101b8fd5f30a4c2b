# SPDX-License-Identifier: Apache-2.0
"""
Ops of `arith`, `math` and `scalar` as NumPy functions of whole arrays; casts are in `casts.py`.
Functions of floats keep the dtype of their operands.
"""

import math as scalar_math
from collections.abc import Callable, Iterable
from typing import cast

import numpy as np
from xdsl.dialects import arith, math
from xdsl.ir import Operation

from tilewright.dialects import scalar
from tilewright.interpreters.number_system import Function
from tilewright.interpreters.types import Array

Binary = Callable[[Array, Array], Array]


def erf(x: Array) -> Array:
    """Return the error function, as C's `erf`, which NumPy lacks."""
    values = cast(Iterable[float], map(scalar_math.erf, x.ravel().tolist()))
    return np.fromiter(values, np.float64, x.size).reshape(x.shape).astype(x.dtype)


def erfc(x: Array) -> Array:
    """Return the complementary error function, as C's `erfc`, which NumPy lacks."""
    values = cast(Iterable[float], map(scalar_math.erfc, x.ravel().tolist()))
    return np.fromiter(values, np.float64, x.size).reshape(x.shape).astype(x.dtype)


def power(base: Array, exponent: Array) -> Array:
    """Return C's `pow`; NumPy's takes a square root for an exponent 0.5: NaN for -inf."""
    return np.float_power(base, exponent).astype(base.dtype)


def rsqrt(x: Array) -> Array:
    """Return one over the square root."""
    return np.reciprocal(np.sqrt(x))


def _fma(a: Array, b: Array, c: Array) -> Array:
    """
    Return `a * b + c` with one rounding: float64 holds the products of all narrower floats exactly.
    """
    if a.dtype != np.float64:
        return (np.multiply(a, b, dtype=np.float64) + c).astype(a.dtype)
    return _double_fma(a, b, c)


def _double_fma(a: Array, b: Array, c: Array) -> Array:
    """
    Return `a * b + c` in float64, nearly always with one rounding.

    Rounding errors of product and sum are added last, so the sign is right. (Dekker, "A
    floating-point technique for extending the available precision"; Knuth, TAOCP volume 2, 4.2.2,
    theorem B.)
    """
    product = a * b
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    rest = a_low * b_low - (product - a_high * b_high - a_low * b_high - a_high * b_low)
    total = product + c
    added = total - product
    lost = (product - (total - added)) + (c - added)
    exact = total + (lost + rest)
    return np.where(np.isfinite(exact), exact, total)


def _halves(x: Array) -> tuple[Array, Array]:
    """Return two numbers of 26 bits whose sum is `x`."""
    scaled = x * (2.0**27 + 1)
    high = scaled - (scaled - x)
    return high, x - high


def _round_half_away(x: Array) -> Array:
    whole = np.trunc(x)
    return np.where(np.abs(x - whole) < 0.5, whole, whole + np.copysign(whole.dtype.type(1), x))


def _modular(function: Binary, on_bits: Binary) -> Binary:
    """
    Return an integer operation that wraps: `on_bits` for arrays of single bits, else `function`.
    """
    return lambda a, b: on_bits(a, b) if a.dtype == np.bool_ else function(a, b)


def divide_towards_zero(a: Array, b: Array) -> Array:
    """Return the quotient of integers, truncated towards zero."""
    return (a - np.fmod(a, b)) // b


def integer_pow(base: Array, exponent: Array) -> Array:
    """
    Return an integer power modulo 2^bits. For a negative exponent it is 1 or -1 if the base is 1 or
    -1, else 0.
    """
    power = np.power(base, np.maximum(exponent, 0))
    sign = np.where(exponent % 2 == 0, 1, base)
    inverse = np.where(np.abs(base) == 1, sign, 0).astype(base.dtype)
    return np.where(exponent < 0, inverse, power)


def _shift_left(x: Array, by: Array) -> Array:
    return np.where(_within(by), np.left_shift(x, _held(by)), 0).astype(x.dtype)


def _shift_right(x: Array, by: Array) -> Array:
    """Shift right with the sign; a shift that is too long or negative leaves only the sign."""
    return np.right_shift(x, np.where(_within(by), by, 8 * by.itemsize - 1).astype(by.dtype))


def _shift_right_logical(x: Array, by: Array) -> Array:
    bits = x.view(f"u{x.itemsize}")
    shifted = np.right_shift(bits, _held(by).view(bits.dtype)).view(x.dtype)
    return np.where(_within(by), shifted, 0).astype(x.dtype)


def _within(by: Array) -> Array:
    """Return a mask of the shifts that leave bits; a negative shift counts as too long."""
    return (by >= 0) & (by < 8 * by.itemsize)


def _held(by: Array) -> Array:
    return np.where(_within(by), by, 0).astype(by.dtype)


def _ceil_divide(a: Array, b: Array) -> Array:
    return -(-a // b)


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
    arith.DivSIOp: divide_towards_zero,
    arith.FloorDivSIOp: np.floor_divide,
    arith.CeilDivSIOp: _ceil_divide,
    arith.RemSIOp: np.fmod,
    arith.MaxSIOp: np.maximum,
    arith.MinSIOp: np.minimum,
    arith.AndIOp: np.bitwise_and,
    arith.OrIOp: np.bitwise_or,
    arith.XOrIOp: np.bitwise_xor,
    arith.ShLIOp: _shift_left,
    arith.ShRSIOp: _shift_right,
    arith.ShRUIOp: _shift_right_logical,
    math.AbsFOp: np.abs,
    math.AbsIOp: np.abs,
    math.AcosOp: np.arccos,
    math.AcoshOp: np.arccosh,
    math.AsinOp: np.arcsin,
    math.AsinhOp: np.arcsinh,
    math.Atan2Op: np.arctan2,
    math.AtanOp: np.arctan,
    math.AtanhOp: np.arctanh,
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
    math.IPowIOp: integer_pow,
    math.Log10Op: np.log10,
    math.Log1pOp: np.log1p,
    math.Log2Op: np.log2,
    math.LogOp: np.log,
    math.PowFOp: power,
    math.RoundEvenOp: np.rint,
    math.RoundOp: _round_half_away,
    math.RsqrtOp: rsqrt,
    math.SinOp: np.sin,
    math.SinhOp: np.sinh,
    math.SqrtOp: np.sqrt,
    math.TanOp: np.tan,
    math.TanhOp: np.tanh,
    math.TruncOp: np.trunc,
    scalar.ErfcOp: erfc,
    scalar.FmodOp: np.fmod,
}


def _unordered(a: Array, b: Array) -> Array:
    return np.isnan(a) | np.isnan(b)


def _ordered_and(compare: Binary) -> Binary:
    return lambda a, b: ~_unordered(a, b) & compare(a, b)


def _unordered_or(compare: Binary) -> Binary:
    return lambda a, b: _unordered(a, b) | compare(a, b)


def _signed(compare: Binary, on_bits: Binary) -> Binary:
    """
    Return a signed comparison: `on_bits` for arrays of single bits, where a set bit means -1, else
    `compare`.
    """
    return lambda a, b: (on_bits if a.dtype == np.bool_ else compare)(a, b)


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
"""Comparisons by predicate number of `arith.cmpf`: false, o.., ord, u.., uno, true."""

COMPARE_INTEGERS: tuple[Binary, ...] = (
    np.equal,
    np.not_equal,
    _signed(np.less, np.greater),
    _signed(np.less_equal, np.greater_equal),
    _signed(np.greater, np.less),
    _signed(np.greater_equal, np.less_equal),
    _unsigned(np.less),
    _unsigned(np.less_equal),
    _unsigned(np.greater),
    _unsigned(np.greater_equal),
)
"""Comparisons by predicate number of `arith.cmpi`: eq, ne, signed, unsigned."""
