# SPDX-License-Identifier: Apache-2.0
"""
Integers: sums, products and comparisons are those of integers, all other functions are opaque.

float64 holds the integers; a sum or product of 2^52 or more is an error. A number that is not
whole, as the constant 0.125, is an integer of its own with the same sign. Roundings of whole
numbers, as `floor`, leave them as they are.
"""

from collections.abc import Sequence

import numpy as np
from xdsl.dialects import arith, math
from xdsl.ir import Attribute, Operation

from tilewright.interpreters.exact.joins import OrdinaryJoin
from tilewright.interpreters.exact.opaque import opaque
from tilewright.interpreters.exact.ordinary import BEYOND, InexactError, refused
from tilewright.interpreters.exact.system import ALONE, OPS, system
from tilewright.interpreters.floats import FLOATS
from tilewright.interpreters.number_system import Function
from tilewright.interpreters.types import Array, DType

_LIMIT = 2.0**52
"""Size from which on sums and products may be rounded."""

_VALUES = 127
"""Number of values of each opaque function."""

_LARGEST_INPUT = 2047

_fraction = opaque("fraction", 1, _VALUES // 2)


def _number(values: Array) -> Array:
    if (values == np.rint(values)).all() and (np.abs(values) < _LIMIT).all():
        return values + 0.0
    is_fraction = (values != np.rint(values)) & np.isfinite(values)
    return np.where(is_fraction, np.copysign(_fraction(values), values), values)


def _checked(values: Array) -> Array:
    """Return `values`, or raise `InexactError` if one of them may be rounded."""
    if np.max(np.abs(values), initial=0.0) >= _LIMIT:
        raise InexactError("a number is 2^52 or more")
    return values


def _add(a: Array, b: Array) -> Array:
    return _checked(a + b)


def _multiply(a: Array, b: Array) -> Array:
    return _checked(a * b)


def _subtract(a: Array, b: Array) -> Array:
    return _checked(a - b)


def _negate(x: Array) -> Array:
    return 0.0 - x


def _fma(a: Array, b: Array, c: Array) -> Array:
    return _add(_multiply(a, b), c)


def _with_sign(a: Array, b: Array) -> Array:
    return np.copysign(a, b + 0.0)  # zero has one sign


def _multiply_add(a: Array, b: Array, d: Array) -> Array:
    if np.isfinite(a).all() and np.isfinite(b).all() and (np.abs(d) < BEYOND).all():
        _checked(np.abs(a) @ np.abs(b) + np.abs(d))
    return d + a @ b


def _sum(value: Array, dims: tuple[int, ...]) -> Array:
    _checked(np.add.reduce(np.abs(value), dims))
    return np.add.reduce(value, dims, keepdims=True)


def _sums(value: Array) -> Array:
    _checked(np.add.reduce(np.abs(value), 0))
    return np.add.accumulate(value, 0)


def _product(value: Array, dims: tuple[int, ...]) -> Array:
    return _checked(np.multiply.reduce(value, dims, keepdims=True))


def _products(value: Array) -> Array:
    return _checked(np.multiply.accumulate(value, 0))


def _add_at(values: Array, subscripts: tuple[Array, ...], others: Array) -> None:
    _checked(np.max(np.abs(values), initial=0.0) + np.sum(np.abs(others)))
    np.add.at(values, subscripts, others)


def _multiply_at(values: Array, subscripts: tuple[Array, ...], others: Array) -> None:
    np.multiply.at(values, subscripts, others)
    _checked(values)


def _to_integer(x: Array, source: Attribute, dtype: DType) -> Array:
    if np.iinfo(dtype).bits < 64 and (np.abs(x) > np.iinfo(dtype).max).any():
        raise InexactError(f"a number does not fit into {dtype}")
    return FLOATS.casts[arith.FPToSIOp](x, source, dtype)


def _draw(rng: np.random.Generator, shape: Sequence[int]) -> Array:
    return rng.integers(-_LARGEST_INPUT, _LARGEST_INPUT + 1, shape).astype(np.float64)


_EXACT: dict[type[Operation], Function] = {
    arith.AddfOp: _add,
    arith.SubfOp: _subtract,
    arith.MulfOp: _multiply,
    arith.NegfOp: _negate,
    math.AbsFOp: np.abs,
    math.FmaOp: _fma,
    math.FloorOp: np.floor,
    math.CeilOp: np.ceil,
    math.RoundEvenOp: np.rint,
    math.RoundOp: np.rint,
    math.TruncOp: np.trunc,
    math.CopySignOp: _with_sign,
}

INTEGERS = system(
    "for integers and opaque functions",
    {
        **{op: opaque(op.name, -(_VALUES // 2), _VALUES) for op in (*OPS.values(), *ALONE)},
        **_EXACT,
    },
    number=_number,
    add=OrdinaryJoin(_sum, _sums, _add_at),
    multiply=OrdinaryJoin(_product, _products, _multiply_at),
    draw=_draw,
    to_integer=_to_integer,
    multiply_add=_multiply_add,
    halve=refused("halves (kernel.halve_tf32)"),
)
