# SPDX-License-Identifier: Apache-2.0
"""
Number system of terms: its functions make a term for each element (`terms.py`). Comparisons and
`select` are those of the floats that stand for terms.
"""

from functools import partial

import numpy as np
from xdsl.dialects import arith
from xdsl.ir import Operation

from tilewright.dialects.monoid import Monoid
from tilewright.dialects.scalar_function import ScalarFunction
from tilewright.interpreters.exact.joins import ExactJoin, OrdinaryJoin
from tilewright.interpreters.exact.system import ALONE, OPS
from tilewright.interpreters.floats import FLOATS
from tilewright.interpreters.number_system import ExactNumbers, Function
from tilewright.interpreters.terms import Terms
from tilewright.interpreters.types import Array

_F = ScalarFunction

_EXTREMES: dict[str, tuple[type[Operation], ...]] = {
    "maximum": (arith.MaximumfOp, arith.MaxnumfOp),
    "minimum": (arith.MinimumfOp, arith.MinnumfOp),
}
"""Ops of functions that the exact number systems share with floats."""


def term_numbers(terms: Terms) -> ExactNumbers:
    """Return the number system whose functions make `terms`."""
    functions = {op: _named(terms, name, FLOATS.functions[op]) for name, op in _named_ops()}
    by_name = {
        each: _named(terms, each.value, FLOATS.scalar_functions[each])
        for each in (*OPS, _F.FLOORDIV, _F.MAXIMUM, _F.MINIMUM)
    }
    add, multiply = functions[arith.AddfOp], functions[arith.MulfOp]
    joins = {
        Monoid.ADD: _join(terms, "add", np.add, add),
        Monoid.MUL: _join(terms, "mul", np.multiply, multiply),
        Monoid.MAX: _join(terms, "maximum", np.maximum, by_name[_F.MAXIMUM]),
        Monoid.MIN: _join(terms, "minimum", np.minimum, by_name[_F.MINIMUM]),
    }
    joins[Monoid.MOMENTS] = joins[Monoid.ADD]
    return ExactNumbers(
        {**FLOATS.functions, **functions},
        {**FLOATS.scalar_functions, **by_name},
        FLOATS.casts,
        {**FLOATS.joins, **joins},
        name="as terms",
        number=_unchanged,
        to_integer=FLOATS.casts[arith.FPToSIOp],
        draw=lambda rng, shape: rng.standard_normal(tuple(shape)),
        multiply_add=partial(_multiply_add, add, multiply),
        halve=_halve,
    )


def _halve(values: Array, factor: str) -> Array:
    """Return exact halves, so that the second parts are 0."""
    return values / 2


def _named(terms: Terms, name: str, function: Function) -> Function:
    """Return a function of whole arrays that computes terms called `name`."""

    def apply(*arrays: Array) -> Array:
        if arrays[-1].dtype.kind != "f":
            return function(*arrays)
        arrays = tuple(np.broadcast_arrays(*arrays))
        values = np.broadcast_to(function(*arrays), arrays[0].shape).ravel().tolist()
        operands = zip(*(array.ravel().tolist() for array in arrays), strict=True)
        found = [terms.made(name, *pair) for pair in zip(operands, values, strict=True)]
        return np.asarray(found, np.float64).reshape(arrays[0].shape)

    return apply


def _join(terms: Terms, name: str, ufunc: np.ufunc, function: Function) -> ExactJoin:
    """Return the join whose results are terms called `name`."""

    def over(value: Array, dims: tuple[int, ...]) -> Array:
        kept = [dim for dim in range(value.ndim) if dim not in {d % value.ndim for d in dims}]
        shape = tuple(value.shape[dim] if dim in kept else 1 for dim in range(value.ndim))
        moved = np.moveaxis(value, kept, range(len(kept)))
        rows = moved.reshape(np.prod(shape, dtype=int), -1)
        joined = ufunc.reduce(rows, 1).tolist()
        pairs = zip(map(tuple, rows.tolist()), joined, strict=True)
        return np.asarray([terms.made(name, *pair) for pair in pairs]).reshape(shape)

    def along(value: Array) -> Array:
        found = np.array(value)
        for step in range(1, found.shape[0]):
            found[step] = function(found[step - 1], found[step])
        return found

    def into(values: Array, subscripts: tuple[Array, ...], others: Array) -> None:
        places = np.arange(values.size).reshape(values.shape)[subscripts]
        given = np.broadcast_to(others, places.shape).ravel()
        for place, other in zip(places.ravel().tolist(), given, strict=True):
            values.flat[place] = function(values.flat[place][None], other[None])[0]

    return ExactJoin(ufunc, function, OrdinaryJoin(over, along, into))


def _named_ops() -> list[tuple[str, type[Operation]]]:
    """Return the ops on floats with the names of their functions."""
    pairs = [(each.value, op) for each, op in OPS.items()]
    pairs += [(op.name.partition(".")[2], op) for op in ALONE]
    return pairs + [(name, op) for name, ops in _EXTREMES.items() for op in ops]


def _unchanged(values: Array) -> Array:
    return values


def _multiply_add(add: Function, multiply: Function, a: Array, b: Array, d: Array) -> Array:
    products = multiply(a[..., :, :, None], b[..., None, :, :])
    for step in range(products.shape[-2]):
        d = add(d, products[..., step, :])
    return d
