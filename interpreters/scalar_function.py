# SPDX-License-Identifier: Apache-2.0
"""
Functions of `prim.elementwise` on NumPy arrays, all elements at once.

Results keep the dtype of the operands, except those of comparisons and `select`.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from tilewright.dialects.scalar_function import ScalarFunction
from tilewright.interpreters.number_system import Function
from tilewright.interpreters.scalar import (
    divide_towards_zero,
    erf,
    erfc,
    integer_pow,
    power,
    rsqrt,
)
from tilewright.interpreters.types import Array


def _by_kind(floats: Function, integers: Function) -> Function:
    """Return a function that applies `floats` to arrays of floats, and `integers` to others."""

    def apply(*arrays: Array) -> Array:
        is_float = np.issubdtype(arrays[0].dtype, np.floating)
        return (floats if is_float else integers)(*arrays)

    return apply


_F = ScalarFunction

SCALAR_FUNCTIONS: Mapping[ScalarFunction, Function] = {
    _F.ADD: np.add,
    _F.SUB: np.subtract,
    _F.MUL: np.multiply,
    _F.DIV: _by_kind(np.divide, divide_towards_zero),
    _F.FLOORDIV: np.floor_divide,
    _F.FMOD: np.fmod,
    _F.POW: _by_kind(power, integer_pow),
    _F.MAXIMUM: np.maximum,
    _F.MINIMUM: np.minimum,
    _F.ATAN2: np.arctan2,
    _F.NEG: np.negative,
    _F.ABS: np.abs,
    _F.EXP: np.exp,
    _F.EXP2: np.exp2,
    _F.EXPM1: np.expm1,
    _F.LOG: np.log,
    _F.LOG2: np.log2,
    _F.LOG10: np.log10,
    _F.LOG1P: np.log1p,
    _F.SQRT: np.sqrt,
    _F.RSQRT: rsqrt,
    _F.SIN: np.sin,
    _F.COS: np.cos,
    _F.TAN: np.tan,
    _F.ASIN: np.arcsin,
    _F.ACOS: np.arccos,
    _F.ATAN: np.arctan,
    _F.SINH: np.sinh,
    _F.COSH: np.cosh,
    _F.TANH: np.tanh,
    _F.ASINH: np.arcsinh,
    _F.ACOSH: np.arccosh,
    _F.ATANH: np.arctanh,
    _F.ERF: erf,
    _F.ERFC: erfc,
    _F.FLOOR: np.floor,
    _F.CEIL: np.ceil,
    _F.ROUND: np.rint,
    _F.TRUNC: np.trunc,
    _F.AND: np.bitwise_and,
    _F.OR: np.bitwise_or,
    _F.XOR: np.bitwise_xor,
    _F.SHL: np.left_shift,
    _F.SHR: np.right_shift,
    _F.EQ: np.equal,
    _F.NE: np.not_equal,
    _F.LT: np.less,
    _F.LE: np.less_equal,
    _F.GT: np.greater,
    _F.GE: np.greater_equal,
    _F.SELECT: np.where,
}
"""NumPy function of each scalar function except `cast`, which needs the result's dtype."""


def cast(array: Array, dtype: np.dtype[Any]) -> Array:
    """
    Return the values in another dtype; as a bool only 0 is false, and floats out of an integer's
    range wrap.
    """
    if dtype == np.bool_ or not np.issubdtype(array.dtype, np.floating):
        return array.astype(dtype)
    if not np.issubdtype(dtype, np.integer) or dtype.itemsize >= 4:
        return array.astype(dtype)
    return array.astype(np.int32).astype(dtype)
