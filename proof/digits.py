# SPDX-License-Identifier: Apache-2.0
"""
Step of each axis from an element that the step accesses: subscripts are read as numbers whose
digits are axes.

    %bm * 16 + %tm * 2 + %vm = e   ->   %bm = e floordiv 16, %tm = e mod 16 floordiv 2, ...

Subscripts that share an axis are one number, unless a step may exceed the end of one of them. Each
subscript then gives digits of the axis:

    %bm floordiv 4 = e, %bm mod 4 * 64 + %tm = f   ->   %bm = e * 4 + f floordiv 64, %tm = f mod 64

Variables whose sum has a bound of its own are one digit, which is read further:

    %r * 8 + %i * 7 + %l = e where [6 - %r * 8 - %l]   ->   %i = e floordiv 7, %r * 8 + %l = e mod 7

The result is a guess, which the solver checks: a wrong guess costs a proof, and nothing more.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from tilewright.dialects.index import Range, Ranges, Sum, linearize, range_of, sum_of


class _Read(NamedTuple):
    """Variables that are read from an element: as a whole, or digits by their divisors."""

    whole: dict[int, AffineExpr]
    parts: dict[int, dict[int, AffineExpr]]


def digits(
    subscripts: Sequence[AffineExpr],
    element: Sequence[AffineExpr],
    shape: Sequence[int],
    ranges: Sequence[Range],
    axes: Sequence[int],
    bounded: Sequence[AffineExpr] = (),
) -> Mapping[int, AffineExpr]:
    """
    Return the variables `axes` in `subscripts` as expressions of `element` and of all other
    variables, as far as they can be read. Sums in `bounded` are digits.
    """
    sums = [sum_of(expr, ranges) for expr in bounded]
    found = _Read({}, {})
    for members in groups(subscripts, {*axes}):
        sizes = [shape[at] for at in members]
        numbers, rests = [subscripts[at] for at in members], [element[at] for at in members]
        inner = zip(numbers[1:], sizes[1:], strict=True)  # the outermost one may exceed its end
        if not any(_exceeds(number, size, ranges) for number, size in inner):
            numbers, rests = [linearize(numbers, sizes)], [linearize(rests, sizes)]
        for number, rest in zip(numbers, rests, strict=True):
            digit_sum = _with_digits(sum_of(number, ranges), sums)
            _read(digit_sum, rest, ranges, {*axes}, found)
    parts = {axis: _joined(digits) for axis, digits in found.parts.items()}
    return {**parts, **found.whole}


def _with_digits(number: Sum, sums: Sequence[Sum]) -> Sum:
    """Return `number` with the first of `sums` that is a part of it as one of its terms."""
    for each in sums:
        if len(each.terms) > 1 and each.terms.items() < number.terms.items():
            others = {atom: at for atom, at in number.terms.items() if atom not in each.terms}
            return Sum({**others, Sum(each.terms).expr(): 1}, number.constant)
    return number


def _exceeds(number: AffineExpr, size: int, ranges: Ranges) -> bool:
    known = range_of(number, ranges)
    return known is None or known.high >= size


def _joined(digits: Mapping[int, AffineExpr]) -> AffineExpr:
    """Return the number whose digits are given by their divisors."""
    return sum((digit * divisor for divisor, digit in digits.items()), AffineExpr.constant(0))


def groups(subscripts: Sequence[AffineExpr], axes: set[int]) -> list[list[int]]:
    """Return the positions of subscripts that share axes, and are therefore one number."""
    found = list[tuple[set[int], list[int]]]()
    for at, subscript in enumerate(subscripts):
        used = subscript.used_dims() & axes
        shared = [group for group in found if not group[0].isdisjoint(used)]
        found = [group for group in found if group not in shared]
        members = sorted([at, *(member for _, others in shared for member in others)])
        found.append((used.union(*(each for each, _ in shared)), members))
    return [members for _, members in found]


def _read(number: Sum, rest: AffineExpr, ranges: Ranges, axes: set[int], found: _Read) -> None:
    """Read the digits of `number`, whose value is `rest`, from the largest factor down."""
    parts = sorted(number.terms.items(), key=lambda term: -abs(term[1]))
    known = {atom: factor for atom, factor in parts if axes.isdisjoint(atom.used_dims())}
    rest = rest - Sum(known, number.constant).expr()
    parts = [(atom, factor) for atom, factor in parts if atom not in known]
    # A digit that is subtracted counts down from its highest value, and is added from there.
    highest = {atom: _high(atom, ranges) for atom, factor in parts if factor < 0}
    rest = rest + sum(-factor * highest[atom] for atom, factor in parts if factor < 0)
    for atom, factor in parts:
        digit = rest // abs(factor)
        rest = rest % abs(factor)
        value = AffineExpr.constant(highest[atom]) - digit if factor < 0 else digit
        _assign(atom, value, ranges, axes, found)


def _high(atom: AffineExpr, ranges: Ranges) -> int:
    known = range_of(atom, ranges)
    return 0 if known is None else known.high


def _assign(
    atom: AffineExpr,
    value: AffineExpr,
    ranges: Ranges,
    axes: set[int],
    found: _Read,
) -> None:
    match atom:
        case AffineDimExpr(position):
            found.whole.setdefault(position, value)
        case AffineBinaryOpExpr(
            AffineBinaryOpKind.FloorDiv, AffineDimExpr(position), AffineConstantExpr(divisor)
        ):
            found.parts.setdefault(position, {}).setdefault(divisor, value)
        case AffineBinaryOpExpr(AffineBinaryOpKind.Add):  # terms that are one digit together
            _read(sum_of(atom, ranges), value, ranges, axes, found)
        case AffineBinaryOpExpr(AffineBinaryOpKind.FloorDiv, inner, AffineConstantExpr(divisor)):
            _read(sum_of(inner, ranges), value * divisor, ranges, axes, found)
        case AffineBinaryOpExpr(AffineBinaryOpKind.Mod, AffineDimExpr(position), _):
            found.parts.setdefault(position, {}).setdefault(1, value)
        case AffineBinaryOpExpr(
            AffineBinaryOpKind.Mod,
            AffineBinaryOpExpr(
                AffineBinaryOpKind.FloorDiv, AffineDimExpr(position), AffineConstantExpr(divisor)
            ),
            _,
        ):
            found.parts.setdefault(position, {}).setdefault(divisor, value)
        case AffineBinaryOpExpr(AffineBinaryOpKind.Mod, inner, _):
            _read(sum_of(inner, ranges), value, ranges, axes, found)
        case _:
            pass
