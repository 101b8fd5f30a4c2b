# SPDX-License-Identifier: Apache-2.0
"""
Digits of affine sums: what the value of a sum implies for the indices in it.

    %b * 64 + %t * 4 + %k        %b below 10, %t below 16, %k below 4

is a number whose digits are `%b`, `%t` and `%k`: the weight of each exceeds the largest value of
all that follow. Equal values therefore imply equal digits, and the digits limit which distances two
values can have.
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
    """
    Term of a sum: an index times `weight`; the index's largest and smallest values differ by
    `width`.
    """

    weight: int
    width: int


def digits_of(value: Sum, ranges: Ranges) -> dict[AffineExpr, Digit] | None:
    """
    Return the terms of a sum as digits, largest weight first, or None. Each digit must outweigh all
    smaller ones: then the value of the sum determines all of them.
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


def determine(sums: Sequence[Sum], targets: Iterable[AffineExpr], ranges: Ranges) -> bool:
    """
    True if the values of `sums` determine the values of all atoms in `targets`. Atoms are terms
    without their factors: indices, quotients and remainders.
    """
    known_atoms: dict[AffineExpr, None] = {}
    """Atoms whose values follow from the values of `sums`."""
    pending = [atom for value in sums for atom in digits_of(value, ranges) or ()]
    while pending:
        atom = pending.pop()
        known_atoms[atom] = None
        for value, quotient in filter(None, (_dividend(rest, ranges) for rest in known_atoms)):
            if all(part in known_atoms for part in quotient.terms):
                parts = digits_of(value, ranges) or ()
                pending += [part for part in parts if part not in (*known_atoms, *pending)]
    return all(root in known_atoms for root in targets)


def _dividend(atom: AffineExpr, ranges: Ranges) -> tuple[Sum, Sum] | None:
    """
    Return the sums `x` and `x // c` if `atom` is `x mod c`, else None; remainder and quotient
    determine `x`.
    """
    match atom:
        case AffineBinaryOpExpr(AffineBinaryOpKind.Mod, x, AffineConstantExpr(c)):
            return sum_of(x, ranges), sum_of(x // c, ranges)
        case _:
            return None


def may_be_apart(value: Sum, distance: int, ranges: Ranges) -> bool:
    """True if two values of a sum may differ by `distance`."""
    digits = digits_of(value, ranges)
    return digits is None or _may_differ_by(abs(distance), list(digits.values()))


def _may_differ_by(distance: int, digits: Sequence[Digit]) -> bool:
    """True if two numbers with these digits, largest weight first, may differ by `distance`."""
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
    """True if a range is known and contains a single value."""
    return known is not None and known.low == known.high
