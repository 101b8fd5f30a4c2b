# SPDX-License-Identifier: Apache-2.0
"""
Monoids on arrays: joining two lists of values, folding dimensions, prefix joins.

The values of a list are joined independently. If the monoid is one of pairs, a list is a value and
its index, which are joined together. For `softmax`, a list is a score and the values that it
weights. For `moments`, a list is a mean, a sum of squared deviations and a count.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from xdsl.ir import Attribute

from tilewright.dialects.monoid import Monoid, MonoidAttr
from tilewright.interpreters.types import Array, ElementTypes

_JOINS: dict[Monoid, np.ufunc] = {
    Monoid.ADD: np.add,
    Monoid.MUL: np.multiply,
    Monoid.MAX: np.maximum,
    Monoid.MIN: np.minimum,
    Monoid.AND: np.logical_and,
    Monoid.OR: np.logical_or,
    Monoid.ARGMAX: np.maximum,
    Monoid.ARGMIN: np.minimum,
    Monoid.SOFTMAX: np.maximum,
    Monoid.MOMENTS: np.add,
}
"""Ufunc that joins values of each monoid, or the first values if they are joined together."""

_LAST = np.iinfo(np.int64).max


def identities(
    types: ElementTypes, monoid: MonoidAttr, elements: Sequence[Attribute]
) -> list[Array]:
    """
    Return the identity of `monoid` for each value of a list whose element types are `elements`.
    """
    return [types.constant(constant) for constant in monoid.identities(elements)]


def join(monoid: Monoid, left: Sequence[Array], right: Sequence[Array]) -> list[Array]:
    """Return the list of values that joins two lists, element by element."""
    if monoid is Monoid.MOMENTS:
        pairs = zip(left, right, strict=True)
        return _moments([np.stack(np.broadcast_arrays(*pair)) for pair in pairs], (0,))
    best = _JOINS[monoid](left[0], right[0])
    if monoid.combines_pairs:
        indices = (_index_where_best(best, *pair) for pair in (left, right))
        return [best, np.minimum(*indices)]
    if monoid is Monoid.SOFTMAX:
        weights = [_weight(score, best) for score in (left[0], right[0])]
        return [best, *(a * weights[0] + b * weights[1] for a, b in _rest(left, right))]
    return [best, *(_JOINS[monoid](a, b) for a, b in _rest(left, right))]


def fold(
    monoid: Monoid,
    values: Sequence[Array],
    dims: tuple[int, ...],
    start: Sequence[Array],
    *,
    keepdims: bool = False,
) -> list[Array]:
    """
    Return each value joined over the dimensions `dims`, beginning with its identity in `start`.

    Each value must have all steps of `dims`, even if it does not vary along them.
    """
    if monoid is Monoid.MOMENTS:
        return _moments(np.broadcast_arrays(*values), dims, keepdims=keepdims)
    ufunc = _JOINS[monoid]

    def folded(value: Array, initial: Array) -> Array:
        return ufunc.reduce(value, dims, dtype=value.dtype, keepdims=keepdims, initial=initial[()])

    if monoid.combines_each:
        return [folded(value, initial) for value, initial in zip(values, start, strict=True)]
    if monoid is Monoid.SOFTMAX:
        score, *rest = values
        best = ufunc.reduce(score, dims, dtype=score.dtype, keepdims=True, initial=start[0][()])
        weight = _weight(score, best)
        sums = [np.sum(weight * v, dims, dtype=v.dtype, keepdims=keepdims) for v in rest]
        return [best if keepdims else np.squeeze(best, dims), *sums]
    value, index = np.broadcast_arrays(*values)
    best = ufunc.reduce(value, dims, dtype=value.dtype, keepdims=True, initial=start[0][()])
    indices = _index_where_best(best, value, index)
    first = np.minimum.reduce(indices, dims, keepdims=keepdims, initial=_LAST)
    return [best if keepdims else np.squeeze(best, dims), first]


def accumulate(monoid: Monoid, values: Sequence[Array]) -> list[Array]:
    """
    Return the prefix joins along dimension 0: at each step the join of all steps up to this one,
    inclusive.
    """
    if monoid.combines_each:
        return [_JOINS[monoid].accumulate(value, 0, dtype=value.dtype) for value in values]
    steps = [np.array(value) for value in np.broadcast_arrays(*values)]
    for step in range(1, steps[0].shape[0]):
        joined = join(monoid, [s[step - 1] for s in steps], [s[step] for s in steps])
        for array, value in zip(steps, joined, strict=True):
            array[step] = value
    return steps


def join_at(monoid: Monoid, values: Array, subscripts: tuple[Array, ...], others: Array) -> None:
    """Join each of `others` to the element of `values` at its subscripts, in place."""
    _JOINS[monoid].at(values, subscripts, others)


def _rest(left: Sequence[Array], right: Sequence[Array]) -> Iterator[tuple[Array, Array]]:
    """Return the pairs of all values but the first."""
    return zip(left[1:], right[1:], strict=True)


def _weight(score: Array, best: Array) -> Array:
    """Return `exp(score - best)`, and 0 where the score is minus infinity."""
    return np.where(score == -np.inf, np.zeros_like(score), np.exp(score - best))


def _moments(
    values: Sequence[Array], dims: tuple[int, ...], *, keepdims: bool = False
) -> list[Array]:
    """
    Return the mean, the sum of squared deviations and the count of all numbers along `dims`, of
    whose parts `values` has the same.
    """
    mean, squares, count = values
    counted = np.sum(count, dims, dtype=count.dtype, keepdims=True)
    total = np.sum(mean * count, dims, dtype=mean.dtype, keepdims=True)
    whole = total / np.maximum(counted, 1)
    deviations = np.where(count == 0, np.zeros_like(mean), mean - whole)
    terms = squares + count * deviations * deviations
    results = [whole, np.sum(terms, dims, dtype=squares.dtype, keepdims=True), counted]
    return results if keepdims else [np.squeeze(result, dims) for result in results]


def _index_where_best(best: Array, value: Array, index: Array) -> Array:
    """
    Return the index where `value` equals `best`, or both are NaN; the largest integer elsewhere.
    """
    is_best = (value == best) | ((value != value) & (best != best))
    return np.where(is_best, index, _LAST)
