# SPDX-License-Identifier: Apache-2.0
"""
Monoids on arrays: joining two lists of values, folding dimensions, prefix joins.

The values of a list are joined independently. If the monoid is one of pairs, a list is a value and
its index, which are joined together. For `softmax`, a list is a score and the values that it
weights. For `moments`, a list is a mean, a sum of squared deviations and a count.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from xdsl.dialects import arith, math
from xdsl.ir import Attribute

from tilewright.dialects.monoid import Monoid, MonoidAttr
from tilewright.interpreters.number_system import NumberSystem
from tilewright.interpreters.types import Array, ElementTypes

_LAST = np.iinfo(np.int64).max


def identities(
    types: ElementTypes, monoid: MonoidAttr, elements: Sequence[Attribute]
) -> list[Array]:
    """
    Return the identity of `monoid` for each value of a list whose element types are `elements`.
    """
    return [types.constant(constant) for constant in monoid.identities(elements)]


def join(
    monoid: Monoid, left: Sequence[Array], right: Sequence[Array], numbers: NumberSystem
) -> list[Array]:
    """Return the list of values that joins two lists, element by element."""
    if monoid is Monoid.MOMENTS:
        pairs = zip(left, right, strict=True)
        return _moments([np.stack(np.broadcast_arrays(*pair)) for pair in pairs], (0,), numbers)
    ufunc = numbers.joins[monoid]
    best = ufunc(left[0], right[0])
    if monoid.combines_pairs:
        indices = (_index_where_best(best, *pair) for pair in (left, right))
        return [best, np.minimum(*indices)]
    if monoid is Monoid.SOFTMAX:
        add, multiply = numbers.functions[arith.AddfOp], numbers.functions[arith.MulfOp]
        one, other = (_weight(score, best, numbers) for score in (left[0], right[0]))
        sums = (add(multiply(a, one), multiply(b, other)) for a, b in _rest(left, right))
        return [best, *sums]
    return [best, *(ufunc(a, b) for a, b in _rest(left, right))]


def fold(
    monoid: Monoid,
    values: Sequence[Array],
    dims: tuple[int, ...],
    start: Sequence[Array],
    numbers: NumberSystem,
    *,
    keepdims: bool = False,
) -> list[Array]:
    """
    Return each value joined over the dimensions `dims`, beginning with its identity in `start`.

    Each value must have all steps of `dims`, even if it does not vary along them.
    """
    if monoid is Monoid.MOMENTS:
        return _moments(np.broadcast_arrays(*values), dims, numbers, keepdims=keepdims)
    ufunc = numbers.joins[monoid]

    def folded(value: Array, initial: Array) -> Array:
        return ufunc.reduce(value, dims, dtype=value.dtype, keepdims=keepdims, initial=initial[()])

    if monoid.combines_each:
        return [folded(value, initial) for value, initial in zip(values, start, strict=True)]
    if monoid is Monoid.SOFTMAX:
        score, *rest = values
        best = ufunc.reduce(score, dims, dtype=score.dtype, keepdims=True, initial=start[0][()])
        weight, multiply = _weight(score, best, numbers), numbers.functions[arith.MulfOp]
        sums = [_sum(multiply(weight, v), dims, numbers, keepdims=keepdims) for v in rest]
        return [best if keepdims else np.squeeze(best, dims), *sums]
    value, index = np.broadcast_arrays(*values)
    best = ufunc.reduce(value, dims, dtype=value.dtype, keepdims=True, initial=start[0][()])
    indices = _index_where_best(best, value, index)
    first = np.minimum.reduce(indices, dims, keepdims=keepdims, initial=_LAST)
    return [best if keepdims else np.squeeze(best, dims), first]


def accumulate(monoid: Monoid, values: Sequence[Array], numbers: NumberSystem) -> list[Array]:
    """
    Return the prefix joins along dimension 0: at each step the join of all steps up to this one,
    inclusive.
    """
    if monoid.combines_each:
        ufunc = numbers.joins[monoid]
        return [ufunc.accumulate(value, 0, dtype=value.dtype) for value in values]
    steps = [np.array(value) for value in np.broadcast_arrays(*values)]
    for step in range(1, steps[0].shape[0]):
        before, now = ([array[at] for array in steps] for at in (step - 1, step))
        joined = join(monoid, before, now, numbers)
        for array, value in zip(steps, joined, strict=True):
            array[step] = value
    return steps


def _rest(left: Sequence[Array], right: Sequence[Array]) -> Iterator[tuple[Array, Array]]:
    """Return the pairs of all values but the first."""
    return zip(left[1:], right[1:], strict=True)


def _weight(score: Array, best: Array, numbers: NumberSystem) -> Array:
    """Return `exp(score - best)`, and 0 where the score is minus infinity."""
    difference = numbers.functions[arith.SubfOp](score, best)
    weight = numbers.functions[math.ExpOp](difference)
    return np.where(score == -np.inf, np.zeros_like(score), weight)


def _sum(
    value: Array, dims: tuple[int, ...], numbers: NumberSystem, *, keepdims: bool = True
) -> Array:
    add = numbers.joins[Monoid.ADD]
    return add.reduce(value, dims, dtype=value.dtype, keepdims=keepdims)


def _moments(
    values: Sequence[Array],
    dims: tuple[int, ...],
    numbers: NumberSystem,
    *,
    keepdims: bool = False,
) -> list[Array]:
    """
    Return the mean, the sum of squared deviations and the count of all numbers along `dims`, of
    whose parts `values` has the same.
    """
    ops = arith.AddfOp, arith.SubfOp, arith.MulfOp, arith.DivfOp
    add, subtract, multiply, divide = (numbers.functions[op] for op in ops)
    mean, squares, count = values
    counted = _sum(count, dims, numbers)
    total = _sum(multiply(mean, count), dims, numbers)
    whole = divide(total, np.maximum(counted, 1))
    deviations = np.where(count == 0, np.zeros_like(mean), subtract(mean, whole))
    terms = add(squares, multiply(multiply(count, deviations), deviations))
    results = [whole, _sum(terms, dims, numbers), counted]
    return results if keepdims else [np.squeeze(result, dims) for result in results]


def _index_where_best(best: Array, value: Array, index: Array) -> Array:
    """
    Return the index where `value` equals `best`, or both are NaN; the largest integer elsewhere.
    """
    is_best = (value == best) | ((value != value) & (best != best))
    return np.where(is_best, index, _LAST)
