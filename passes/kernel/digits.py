# SPDX-License-Identifier: Apache-2.0
"""
What the values of affine sums say of the indices in them.

    %b * 64 + %t * 4 + %k        %b below 10, %t below 16, %k below 4

is a number whose digits are `%b`, `%t` and `%k`: each outweighs all that follow, so that equal
values mean equal digits, and the digits say how far apart two values can be.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineExpr,
)

from tilewright.dialects.index import Range, Ranges, Sum, range_of, sum_of


class Digit(NamedTuple):
    """A term of a sum: a multiple of `weight`, whose largest and smallest are `width` apart."""

    weight: int
    width: int


def digits_of(value: Sum, ranges: Ranges) -> dict[AffineExpr, Digit] | None:
    """
    Return the atoms of a sum, the steepest first, if each outweighs those that follow: then the
    value of the sum says those of all.
    """
    digits: dict[AffineExpr, Digit] = {}
    reach = 0
    for atom, factor in sorted(value.terms.items(), key=lambda term: abs(term[1])):
        known = range_of(atom, ranges)
        if known is None or abs(factor) <= reach:
            return None
        digits[atom] = Digit(abs(factor), known.high - known.low)
        reach += abs(factor) * (known.high - known.low)
    return dict(reversed(digits.items()))


def tell_apart(sums: Sequence[Sum], wanted: Iterable[AffineExpr], ranges: Ranges) -> bool:
    """True if equal values of `sums` mean equal values of all that is `wanted`."""
    told: dict[AffineExpr, None] = {}
    """Atoms whose values follow from those of `sums`."""
    pending = [atom for value in sums for atom in digits_of(value, ranges) or ()]
    while pending:
        atom = pending.pop()
        told[atom] = None
        for value, quotient in filter(None, (_dividend(rest, ranges) for rest in told)):
            if all(part in told for part in quotient.terms):
                parts = digits_of(value, ranges) or ()
                pending += [part for part in parts if part not in (*told, *pending)]
    return all(root in told for root in wanted)


def _dividend(atom: AffineExpr, ranges: Ranges) -> tuple[Sum, Sum] | None:
    """For a rest `x mod c`: `x`, and the quotient that it takes to know it."""
    match atom:
        case AffineBinaryOpExpr(AffineBinaryOpKind.Mod, x, AffineConstantExpr(c)):
            return sum_of(x, ranges), sum_of(x // c, ranges)
        case _:
            return None


def may_be_apart(value: Sum, distance: int, ranges: Ranges) -> bool:
    """True if two values of a sum may be so far apart."""
    digits = digits_of(value, ranges)
    return digits is None or _may_differ_by(abs(distance), list(digits.values()))


def _may_differ_by(distance: int, digits: Sequence[Digit]) -> bool:
    """True if two numbers of such digits, the steepest first, may be `distance` apart."""
    if not digits:
        return distance == 0
    (weight, width), *rest = digits
    reach = sum(digit.weight * digit.width for digit in rest)
    low, high = -((reach - distance) // weight), (distance + reach) // weight
    return any(
        _may_differ_by(distance - weight * steps, rest)
        for steps in range(max(low, -width), min(high, width) + 1)
    )


def is_one_value(known: Range | None) -> bool:
    """True if a range leaves no choice."""
    return known is not None and known.low == known.high
