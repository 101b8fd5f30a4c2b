# SPDX-License-Identifier: Apache-2.0
"""
Joins of monoids as `arith` ops.

The join of (value, index) pairs is, for `argmax` of floats,

    left = (a > b, or a is NaN, and b is not NaN) or ((a == b, or both are NaN) and ia < ib)
    result = left ? (a, ia) : (b, ib)

The join of a score and sums, by `softmax`, is

    m = max(a, b), n = max(m, -3.4e38)       finite: -inf - -inf is NaN
    result = (m, exp(a - n) * s + exp(b - n) * t)

The join of means, sums of squared deviations and counts, by `moments`, is

    d = b - a, w = m / max(n + m, 1)
    result = (d is finite ? a + d * w : a + b, q + r + (d * d * (n * w) + (d - d)), n + m)

Infinite numbers have an infinite mean, or NaN, and the sum NaN: `d - d` is NaN unless d is finite.
"""

from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import NamedTuple

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects.element_types import LOWEST, number_attribute
from tilewright.dialects.monoid import Monoid

Add = Callable[[Operation], SSAValue]
"""Callback that inserts an op and returns its result."""


class _Join(NamedTuple):
    """Constructors of the ops that join two floats and two integers."""

    floats: Callable[[SSAValue, SSAValue], Operation] | None
    integers: Callable[[SSAValue, SSAValue], Operation]

    def of(self, type: Attribute) -> Callable[[SSAValue, SSAValue], Operation]:
        """Return the constructor for values of `type`."""
        op = self.floats if isinstance(type, AnyFloat) else self.integers
        assert op is not None
        return op


_JOINS: Mapping[Monoid, _Join] = {
    Monoid.ADD: _Join(arith.AddfOp, arith.AddiOp),
    Monoid.MUL: _Join(arith.MulfOp, arith.MuliOp),
    Monoid.MAX: _Join(arith.MaximumfOp, arith.MaxSIOp),
    Monoid.MIN: _Join(arith.MinimumfOp, arith.MinSIOp),
    Monoid.AND: _Join(None, arith.AndIOp),
    Monoid.OR: _Join(None, arith.OrIOp),
}

_BETTER = {Monoid.ARGMAX: "gt", Monoid.ARGMIN: "lt"}


def joined(
    monoid: Monoid, left: Sequence[SSAValue], right: Sequence[SSAValue], add: Add
) -> list[SSAValue]:
    """
    Insert by `add` the ops that join `left` and `right` by `monoid`, and return the results. `left`
    and `right` are values of the same types.
    """
    if monoid is Monoid.SOFTMAX:
        return _joined_by_softmax(left, right, add)
    if monoid is Monoid.MOMENTS:
        return _joined_by_moments(left, right, add)
    if monoid.combines_each:
        pairs = zip(left, right, strict=True)
        return [add(_JOINS[monoid].of(a.type)(a, b)) for a, b in pairs]
    is_left = _is_left(_BETTER[monoid], left, right, add)
    return [add(arith.SelectOp(is_left, a, b)) for a, b in zip(left, right, strict=True)]


def weights(
    left: SSAValue, right: SSAValue, add: Add, scale: float = 1.0
) -> tuple[SSAValue, SSAValue, SSAValue]:
    """
    Insert by `add` the maximum of two numbers, and the weights of the sums that belong to each.
    Return all three. Scores are the numbers times `scale`.
    """
    largest = add(arith.MaximumfOp(left, right))
    lowest = add(arith.ConstantOp(number_attribute(LOWEST[largest.type], largest.type)))
    finite = add(arith.MaximumfOp(largest, lowest))

    def weight(number: SSAValue) -> SSAValue:
        relative = add(arith.SubfOp(number, finite))
        if scale != 1:
            factor = add(arith.ConstantOp(number_attribute(scale, number.type)))
            relative = add(arith.MulfOp(relative, factor))
        return add(math.ExpOp(relative))

    return largest, weight(left), weight(right)


def weighted(
    left: SSAValue, weight: SSAValue, right: SSAValue, other: SSAValue, add: Add
) -> SSAValue:
    """Insert by `add` the sum of `left` with its weight and `right` with the other weight."""
    product = add(arith.MulfOp(left, weight))
    return add(arith.AddfOp(product, add(arith.MulfOp(right, other))))


def _joined_by_softmax(
    left: Sequence[SSAValue], right: Sequence[SSAValue], add: Add
) -> list[SSAValue]:
    """Insert by `add` the join of scores and their weighted sums, and return the results."""
    largest, a, b = weights(left[0], right[0], add)
    sums = zip(left[1:], right[1:], strict=True)
    return [largest, *(weighted(s, a, t, b, add) for s, t in sums)]


def _joined_by_moments(
    left: Sequence[SSAValue], right: Sequence[SSAValue], add: Add
) -> list[SSAValue]:
    """Insert by `add` the join of means, squared deviations and counts, and return the results."""
    (a, q, n), (b, r, m) = left, right
    one, infinity = (
        add(arith.ConstantOp(number_attribute(number, a.type))) for number in (1.0, inf)
    )
    count = add(arith.AddfOp(n, m))
    share = add(arith.DivfOp(m, add(arith.MaximumfOp(count, one))))
    difference = add(arith.SubfOp(b, a))
    is_finite = add(arith.CmpfOp(add(math.AbsFOp(difference)), infinity, "olt"))
    moved = add(arith.AddfOp(a, add(arith.MulfOp(difference, share))))
    mean = add(arith.SelectOp(is_finite, moved, add(arith.AddfOp(a, b))))
    scaled = add(arith.MulfOp(difference, add(arith.MulfOp(n, share))))
    between = add(arith.MulfOp(difference, scaled))  # the square may overflow, where n is 0
    nan = add(arith.SubfOp(difference, difference))  # NaN unless the difference is finite, else 0
    squares = add(arith.AddfOp(add(arith.AddfOp(q, r)), add(arith.AddfOp(between, nan))))
    return [mean, squares, count]


def _is_left(
    better: str, left: Sequence[SSAValue], right: Sequence[SSAValue], add: Add
) -> SSAValue:
    """
    Insert by `add` the comparison of the pairs `left` and `right`. Return a value that is true if
    `left` is the join of both: better, or equal with a smaller index.
    """
    (a, index), (b, other) = left, right
    compare = _compare_floats if isinstance(a.type, AnyFloat) else _compare_integers
    is_better, is_equal = compare(better, a, b, add)
    is_first = add(arith.CmpiOp(index, other, "slt"))
    return add(arith.OrIOp(is_better, add(arith.AndIOp(is_equal, is_first))))


def _compare_integers(better: str, a: SSAValue, b: SSAValue, add: Add) -> tuple[SSAValue, SSAValue]:
    return add(arith.CmpiOp(a, b, f"s{better}")), add(arith.CmpiOp(a, b, "eq"))


def _compare_floats(better: str, a: SSAValue, b: SSAValue, add: Add) -> tuple[SSAValue, SSAValue]:
    """
    Insert by `add` comparisons of the floats `a` and `b`. Return two values: `a` is better than
    `b`, and `a` equals `b`. NaN is better than all numbers and equals NaN.
    """
    exceeds, is_number = arith.CmpfOp(a, b, f"u{better}"), arith.CmpfOp(b, b, "oeq")
    is_better = add(arith.AndIOp(add(exceeds), add(is_number)))
    left_nan, right_nan = (add(arith.CmpfOp(value, value, "une")) for value in (a, b))
    equal = add(arith.CmpfOp(a, b, "oeq"))
    return is_better, add(arith.OrIOp(equal, add(arith.AndIOp(left_nan, right_nan))))
