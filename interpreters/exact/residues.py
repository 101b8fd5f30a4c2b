# SPDX-License-Identifier: Apache-2.0
"""
Residues modulo a product of two primes (`modulus.py`): division, `exp` and `log` have their
algebra, as rewrites of softmax and variances use it. Constants are exact, functions such as `sqrt`
are opaque.

The order of residues is that of the numbers from 0 to M - 1. Maxima are therefore right in any
order, but no residue is negative: `relu` and `abs` change nothing.
"""

import numpy as np
from xdsl.dialects import arith, math
from xdsl.ir import Operation

from tilewright.interpreters.exact import modulus
from tilewright.interpreters.exact.joins import OrdinaryJoin
from tilewright.interpreters.exact.opaque import opaque
from tilewright.interpreters.exact.ordinary import (
    BEYOND,
    InexactError,
    are_ordinary,
    on_ordinary,
    refused,
)
from tilewright.interpreters.exact.system import ALONE, OPS, system
from tilewright.interpreters.number_system import Function
from tilewright.interpreters.types import Array

_sqrt = opaque("sqrt", 0, modulus.M)
_left_out = opaque("left out of a half", 1, modulus.Q - 1)


def _number(values: Array) -> Array:
    is_ordinary = np.abs(values) < BEYOND
    if is_ordinary.all():
        return modulus.residue_of(values)
    return np.where(is_ordinary, modulus.residue_of(np.where(is_ordinary, values, 0.0)), values)


def _multiply_add(a: Array, b: Array, d: Array) -> Array:
    if all(map(are_ordinary, (a, b, d))):
        return modulus.multiply_add(a, b, d)
    raise InexactError("it has no matrix products of infinities")


def _exp2(x: Array) -> Array:
    return modulus.exp(modulus.multiply(x, np.asarray(3.0)))


def _log(factor: float) -> Function:
    """Return a logarithm whose value of a base is `factor`, as that of `exp(1)`."""

    def log(x: Array) -> Array:
        found = modulus.log(x)
        scaled = modulus.divide(np.where(x == 0, 0.0, found), np.asarray(factor))
        return np.where(x == 0, found, scaled)

    return log


def _negate(x: Array) -> Array:
    return modulus.subtract(np.zeros(()), x)


def _fma(a: Array, b: Array, c: Array) -> Array:
    return modulus.add(modulus.multiply(a, b), c)


def _expm1(x: Array) -> Array:
    return modulus.subtract(modulus.exp(x), np.ones(()))


def _log1p(x: Array) -> Array:
    return modulus.log(modulus.add(x, np.ones(())))


def _rsqrt(x: Array) -> Array:
    return modulus.divide(np.ones(()), _sqrt(x))


def _halve(x: Array, factor: str) -> Array:
    """
    Return halves without opaque numbers: multiples of P for a factor `a`, and of Q for `b`. Their
    products are 0 modulo P * Q.
    """
    prime = {"a": modulus.P, "b": modulus.Q}.get(factor, 0)

    def first_part(x: Array) -> Array:
        half = modulus.divide(x, np.asarray(2.0))
        return modulus.subtract(half, _left_out(x) * prime)

    return on_ordinary(first_part, _float_half, _number)(x)


def _float_half(x: Array) -> Array:
    return x / 2


_EXACT: dict[type[Operation], Function] = {
    arith.AddfOp: modulus.add,
    arith.SubfOp: modulus.subtract,
    arith.MulfOp: modulus.multiply,
    arith.DivfOp: modulus.divide,
    arith.NegfOp: _negate,
    math.AbsFOp: np.abs,
    math.FmaOp: _fma,
    math.ExpOp: modulus.exp,
    math.Exp2Op: _exp2,
    math.ExpM1Op: _expm1,
    math.LogOp: modulus.log,
    math.Log2Op: _log(3.0),
    math.Log10Op: _log(5.0),
    math.Log1pOp: _log1p,
    math.SqrtOp: _sqrt,
    math.RsqrtOp: _rsqrt,
}

RESIDUES = system(
    "modulo primes",
    {**{op: opaque(op.name, 0, modulus.M) for op in (*OPS.values(), *ALONE)}, **_EXACT},
    number=_number,
    add=OrdinaryJoin(modulus.total, modulus.totals, modulus.add_at),
    multiply=OrdinaryJoin(modulus.product, modulus.products, modulus.multiply_at),
    draw=modulus.draw,
    to_integer=refused("cast of a float to an integer"),
    multiply_add=_multiply_add,
    halve=_halve,
)
