# SPDX-License-Identifier: Apache-2.0
"""
Casts of `arith` as NumPy functions.

Their arguments are an array, the operand's element type in the IR, and the result's dtype. In a run
with widened floats, the array has more bits than its element type.
"""

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, Float32Type
from xdsl.ir import Attribute, Operation

from tilewright.interpreters.number_system import Cast
from tilewright.interpreters.types import Array, DType, is_bfloat16


def _convert(x: Array, source: Attribute, dtype: DType) -> Array:
    """Convert to `dtype`; integers keep their low bits, floats round to nearest."""
    return x.astype(dtype)


def _truncate_integer(x: Array, source: Attribute, dtype: DType) -> Array:
    return (x & 1 if dtype == np.bool_ else x).astype(dtype)


def _truncate_float(x: Array, source: Attribute, dtype: DType) -> Array:
    """
    Round to nearest even, once; `ml_dtypes` alone converts f64 to bf16 through f32, which rounds
    twice.
    """
    return (_to_odd(x) if is_bfloat16(dtype) and x.dtype == np.float64 else x).astype(dtype)


def _to_odd(x: Array) -> Array:
    """
    Round f64 to f32 so that a later rounding is right: an inexact value takes the odd neighbour.
    """
    nearest = x.astype(np.float32)
    is_odd = (nearest.view(np.uint32) & 1).astype(np.bool_)
    towards = np.where(nearest < x, np.inf, -np.inf).astype(np.float32)
    other = np.nextafter(nearest, towards)
    return np.where((nearest == x) | is_odd | np.isnan(x), nearest, other)


def _signed(x: Array, source: Attribute, dtype: DType) -> Array:
    """Convert signed integers; a single bit is 0 or -1."""
    return -x.astype(dtype) if x.dtype == np.bool_ else x.astype(dtype)


def _unsigned(x: Array, source: Attribute, dtype: DType) -> Array:
    """Convert unsigned integers; a single bit is 0 or 1."""
    return (x if x.dtype == np.bool_ else x.view(f"u{x.itemsize}")).astype(dtype)


def _to_signed(x: Array, source: Attribute, dtype: DType) -> Array:
    """
    Convert floats towards zero; values out of range become the nearest bound.

    NaN converts as in PTX (ISA 9.0, 9.7.9.21).
    """
    nan = 0 if isinstance(source, Float32Type) and dtype.itemsize < 8 else np.iinfo(dtype).min
    return _bounded(x, dtype, nan)


def _to_unsigned(x: Array, source: Attribute, dtype: DType) -> Array:
    bits = np.dtype(f"u{dtype.itemsize}")
    nan = (
        0 if isinstance(source, Float32Type) and dtype.itemsize < 8 else 1 << 8 * bits.itemsize - 1
    )
    return _bounded(x, bits, nan).view(dtype)


def _bounded(x: Array, dtype: DType, nan: int) -> Array:
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    too_low, too_high = x <= float(low), x >= float(high)
    inside = np.where(too_low | too_high | np.isnan(x), 0, x).astype(dtype)
    result = np.where(too_low, dtype.type(low), np.where(too_high, dtype.type(high), inside))
    return np.where(np.isnan(x), dtype.type(nan), result)


def _bitcast(x: Array, source: Attribute, dtype: DType) -> Array:
    """Reinterpret the bits; a widened float is narrowed to its own type before that."""
    if isinstance(source, AnyFloat):
        return x.astype(f"f{source.size}").view(dtype)
    return x.view(f"f{x.itemsize}").astype(dtype)


CASTS: dict[type[Operation], Cast] = {
    arith.ExtFOp: _convert,
    arith.TruncFOp: _truncate_float,
    arith.ExtSIOp: _signed,
    arith.ExtUIOp: _unsigned,
    arith.TruncIOp: _truncate_integer,
    arith.IndexCastOp: _convert,
    arith.SIToFPOp: _signed,
    arith.UIToFPOp: _unsigned,
    arith.FPToSIOp: _to_signed,
    arith.FPToUIOp: _to_unsigned,
    arith.BitcastOp: _bitcast,
}
