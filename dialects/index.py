# SPDX-License-Identifier: Apache-2.0
"""
Index arithmetic: affine expressions in one canonical form, simplified with the ranges of their
dimensions.

Reshapes, splits and fusion all produce subscripts such as `(d0 * 7 + d1) floordiv 7`. xDSL's own
simplifier knows no ranges; this one drops the division if it knows that `0 <= d1 < 7`.

An expression is a sum `c0 * atom0 + c1 * atom1 + ... + constant`. An atom is a dimension, or a
`floordiv`/`mod` of a canonical expression by a positive constant.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import gcd
from typing import NamedTuple

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)


class Range(NamedTuple):
    """The integers from `low` to `high`, both included."""

    low: int
    high: int

    @staticmethod
    def extent(size: int) -> "Range":
        """
        Return the range of an axis of `size` steps; an empty axis, which never runs, counts as one
        step.
        """
        return Range(0, max(size, 1) - 1)

    def __contains__(self, other: object) -> bool:
        return isinstance(other, Range) and self.low <= other.low and other.high <= self.high


Ranges = Sequence[Range | None]
"""The range of each dimension; None where it is unknown."""


@dataclass
class Sum:
    """
    The sum `sum(coefficient * atom) + constant`; coefficients are not zero, atoms are distinct.

    A sum never changes. A frozen dataclass would take three times as long to create.
    """

    terms: Mapping[AffineExpr, int]
    constant: int = 0

    def __add__(self, other: "Sum") -> "Sum":
        if not other.terms:
            return Sum(self.terms, self.constant + other.constant)
        terms = dict(self.terms)
        for atom, coefficient in other.terms.items():
            if total := terms.get(atom, 0) + coefficient:
                terms[atom] = total
            else:
                del terms[atom]
        return Sum(terms, self.constant + other.constant)

    def __mul__(self, factor: int) -> "Sum":
        if factor == 1:
            return self
        if factor == 0:
            return Sum({})
        return Sum({a: c * factor for a, c in self.terms.items()}, self.constant * factor)

    def expr(self) -> AffineExpr:
        """
        Return the sum as an expression: largest coefficient first, then by dimension, constant
        last.
        """
        return self._expr

    @cached_property
    def _expr(self) -> AffineExpr:  # cached: `sum_of` returns the same sums repeatedly
        terms = [*self.terms.items()]
        if len(terms) > 1:
            terms.sort(key=lambda term: (-abs(term[1]), _atom_key(term[0])))
        expr: AffineExpr | None = None
        for atom, coefficient in terms:
            expr = atom * coefficient if expr is None else expr + atom * coefficient
        return _const(self.constant) if expr is None else expr + self.constant


def _atom_key(atom: AffineExpr) -> tuple[int, str]:
    if isinstance(atom, AffineDimExpr):
        return (atom.position, f"d{atom.position}")
    first = min((e.position for e in atom.dfs() if isinstance(e, AffineDimExpr)), default=0)
    return (first, str(atom))


def sum_of(expr: AffineExpr, ranges: Ranges = ()) -> Sum:
    """Return the canonical sum of `expr`, simplified with the ranges of its dimensions."""
    return _cached_sum(expr, tuple(ranges))


@lru_cache(maxsize=1 << 14)  # passes ask for the same sums many times
def _cached_sum(expr: AffineExpr, ranges: tuple[Range | None, ...]) -> Sum:
    return _sum(expr, ranges)


def _sum(expr: AffineExpr, ranges: Ranges) -> Sum:
    if isinstance(expr, AffineBinaryOpExpr):
        return _binary(expr, ranges)
    if isinstance(expr, AffineConstantExpr):
        return Sum({}, expr.value)
    if isinstance(expr, AffineDimExpr):
        known = _range_of_dim(expr, ranges)
        if known is not None and known.low == known.high:
            return Sum({}, known.low)
        return Sum({expr: 1})
    if isinstance(expr, AffineSymExpr):
        raise ValueError("subscripts use dimensions only, not symbols")
    raise ValueError(f"not an affine expression: {expr}")


_ADD, _MUL = AffineBinaryOpKind.Add, AffineBinaryOpKind.Mul
_MOD, _FLOORDIV = AffineBinaryOpKind.Mod, AffineBinaryOpKind.FloorDiv


def _binary(expr: AffineBinaryOpExpr, ranges: Ranges) -> Sum:
    kind, lhs, rhs = expr.kind, _sum(expr.lhs, ranges), _sum(expr.rhs, ranges)
    if kind is _ADD:
        return _join_quotients(lhs + rhs, ranges)
    if kind is _MUL:
        return lhs * rhs.constant if not rhs.terms else rhs * lhs.constant
    divisor = rhs.constant
    if rhs.terms or divisor <= 0:
        raise ValueError(f"the divisor in '{expr}' must be a positive constant")
    if kind is _FLOORDIV:
        return _floordiv(lhs, divisor, ranges)
    if kind is _MOD:
        return _mod(lhs, divisor, ranges)
    return _floordiv(lhs * -1, divisor, ranges) * -1


def _split(value: Sum, divisor: int) -> tuple[Sum, Sum]:
    """
    Return sums `quotient` and `rest` with `value = quotient * divisor + rest`, made term by term.
    """
    quotient, rest = dict[AffineExpr, int](), dict[AffineExpr, int]()
    for atom, coefficient in value.terms.items():
        if coefficient % divisor:
            rest[atom] = coefficient
        else:
            quotient[atom] = coefficient // divisor
    return (
        Sum(quotient, value.constant // divisor),
        Sum(rest, value.constant % divisor),
    )


def _common_step(value: Sum, divisor: int, ranges: Ranges) -> tuple[int, Sum, Sum]:
    """
    Find the largest step with `value = step * high + low`, where `0 <= low < step`.

    `step` divides `divisor`. Then `low` affects neither `value floordiv divisor` nor the split of
    `mod`. Return `step`, `high` and `low`; step 1 if there is no larger one.
    """
    for step in sorted({gcd(c, divisor) for c in value.terms.values()}, reverse=True):
        if step == 1:
            break
        high, low = _split(value, step)
        if high.terms and range_of_sum(low, ranges) in Range(0, step - 1):
            return step, high, low
    return 1, value, Sum({})


def _floordiv(value: Sum, divisor: int, ranges: Ranges) -> Sum:
    quotient, rest = _split(value, divisor)
    known = range_of_sum(rest, ranges)
    if known is not None and known.low // divisor == known.high // divisor:
        return quotient + Sum({}, known.low // divisor)
    step, high, _ = _common_step(rest, divisor, ranges)
    return quotient + _floordiv_atom(high, divisor // step, ranges)


def _floordiv_atom(value: Sum, divisor: int, ranges: Ranges) -> Sum:
    if divisor == 1:
        return value
    inner = value.expr()
    match inner:
        case AffineBinaryOpExpr(AffineBinaryOpKind.FloorDiv, x, AffineConstantExpr(c)):
            return _floordiv(sum_of(x, ranges), c * divisor, ranges)
        case AffineBinaryOpExpr(AffineBinaryOpKind.Mod, x, AffineConstantExpr(c)) if (
            c % divisor == 0
        ):
            return _mod(sum_of(x // divisor, ranges), c // divisor, ranges)
        case _:
            return Sum({AffineBinaryOpExpr(AffineBinaryOpKind.FloorDiv, inner, _const(divisor)): 1})


def _mod(value: Sum, divisor: int, ranges: Ranges) -> Sum:
    _, rest = _split(value, divisor)
    known = range_of_sum(rest, ranges)
    if known is not None and known.low // divisor == known.high // divisor:
        return rest + Sum({}, -(known.low // divisor) * divisor)
    step, high, low = _common_step(rest, divisor, ranges)
    return _mod_atom(high, divisor // step, ranges) * step + low


def _mod_atom(value: Sum, divisor: int, ranges: Ranges) -> Sum:
    if divisor == 1:
        return Sum({})
    inner = value.expr()
    match inner:
        case AffineBinaryOpExpr(AffineBinaryOpKind.Mod, x, AffineConstantExpr(c)) if (
            c % divisor == 0
        ):
            return _mod(sum_of(x, ranges), divisor, ranges)
        case _:
            return Sum({AffineBinaryOpExpr(AffineBinaryOpKind.Mod, inner, _const(divisor)): 1})


def _join_quotients(value: Sum, ranges: Ranges) -> Sum:
    """
    Return a sum equal to `value`, in which quotient and remainder of the same division are joined:

        c * (x floordiv c) + x mod c                  =  x
        c * ((x floordiv c) mod d) + x mod c          =  x mod (c * d)
    """
    if len(value.terms) < 2:
        return value
    for atom, coefficient in value.terms.items():
        if not isinstance(atom, AffineBinaryOpExpr) or atom.kind is not _MOD:
            continue
        x, c = atom.lhs, _value(atom.rhs)
        quotient = sum_of(x // c)
        for other, factor in value.terms.items():
            joined = _join(x, c, quotient, other)
            if joined is None or factor != coefficient * c:
                continue
            rest = Sum({a: f for a, f in value.terms.items() if a not in (atom, other)})
            rest = Sum(rest.terms, value.constant)
            return _join_quotients(rest + sum_of(joined, ranges) * coefficient, ranges)
    return value


def _join(x: AffineExpr, c: int, quotient: Sum, other: AffineExpr) -> AffineExpr | None:
    if quotient == Sum({other: 1}):
        return x
    match other:
        case AffineBinaryOpExpr(AffineBinaryOpKind.Mod, y, AffineConstantExpr(d)) if (
            sum_of(y) == quotient
        ):
            return x % (c * d)
        case _:
            return None


def _const(value: int) -> AffineExpr:
    return AffineExpr.constant(value)


def _value(constant: AffineExpr) -> int:
    assert isinstance(constant, AffineConstantExpr)
    return constant.value


def _range_of_dim(dim: AffineDimExpr, ranges: Ranges) -> Range | None:
    return ranges[dim.position] if dim.position < len(ranges) else None


def range_of_sum(value: Sum, ranges: Ranges) -> Range | None:
    """Return bounds of a sum; they are exact if the atoms are independent, and never too tight."""
    low = high = value.constant
    for atom, coefficient in value.terms.items():
        known = _range_of_atom(atom, ranges)
        if known is None:
            return None
        least, most = known if coefficient > 0 else (known.high, known.low)
        low, high = low + least * coefficient, high + most * coefficient
    return Range(low, high)


def _range_of_atom(atom: AffineExpr, ranges: Ranges) -> Range | None:
    if isinstance(atom, AffineDimExpr):
        return _range_of_dim(atom, ranges)
    match atom:
        case AffineBinaryOpExpr(kind, inner, AffineConstantExpr(divisor)):
            known = range_of(inner, ranges)
        case _:
            return None
    if kind is AffineBinaryOpKind.FloorDiv:
        return None if known is None else Range(known.low // divisor, known.high // divisor)
    if known is not None and known.low // divisor == known.high // divisor:
        return Range(known.low % divisor, known.high % divisor)
    return Range(0, divisor - 1)


def range_of(expr: AffineExpr, ranges: Ranges) -> Range | None:
    """Return bounds of `expr`, or None if a dimension that matters has no known range."""
    return range_of_sum(sum_of(expr, ranges), ranges)


def simplify(expr: AffineExpr, ranges: Ranges = ()) -> AffineExpr:
    """
    Return `expr` in canonical form, equal to it at every point within `ranges`.

    Example: with `d1` in `[0, 6]`, `(d0 * 7 + d1) floordiv 7` becomes `d0`.
    """
    return sum_of(expr, ranges).expr()


def linearize(subscripts: Sequence[AffineExpr], shape: Sequence[int]) -> AffineExpr:
    """Return the row-major offset of `subscripts` in an array of `shape`."""
    return _linearized(tuple(subscripts), tuple(shape))


@lru_cache(maxsize=1 << 14)  # consecutive passes look at the same accesses
def _linearized(subscripts: tuple[AffineExpr, ...], shape: tuple[int, ...]) -> AffineExpr:
    offset: AffineExpr = AffineConstantExpr(0)
    for subscript, size in zip(subscripts, shape, strict=True):
        offset = offset * size + subscript
    return offset


def delinearize(offset: AffineExpr, shape: Sequence[int]) -> tuple[AffineExpr, ...]:
    """Return the subscripts of the element at row-major `offset` in an array of `shape`."""
    subscripts: list[AffineExpr] = []
    for position, size in enumerate(reversed(shape)):
        is_outermost = position == len(shape) - 1
        subscripts.append(offset if is_outermost else offset % max(size, 1))
        offset = offset // max(size, 1)
    return tuple(reversed(subscripts))


def simplify_map(map: AffineMap, ranges: Ranges = ()) -> AffineMap:
    """Return `map` with every result simplified."""
    return AffineMap(map.num_dims, 0, tuple(simplify(r, ranges) for r in map.results))


Term = tuple[AffineExpr, int]
"""An atom and its coefficient; a constant `c` is the atom 1 with coefficient `c`."""


@lru_cache(maxsize=1 << 14)  # the same expressions are printed many times
def signed_terms(expr: AffineExpr) -> tuple[tuple[Term, ...], tuple[Term, ...]]:
    """
    Return the added and the subtracted terms in human order.

    A positive constant comes first if terms are subtracted, as in `99 - d0`.
    """
    terms = _terms(expr)
    positive = [(atom, factor) for atom, factor in terms if factor > 0]
    negative = [(atom, -factor) for atom, factor in terms if factor < 0]
    if negative and positive and isinstance(positive[-1][0], AffineConstantExpr):
        positive.insert(0, positive.pop())
    return tuple(positive), tuple(negative)


def _terms(expr: AffineExpr) -> list[Term]:
    match expr:
        case AffineBinaryOpExpr(AffineBinaryOpKind.Add, lhs, rhs):
            return _terms(lhs) + _terms(rhs)
        case AffineBinaryOpExpr(AffineBinaryOpKind.Mul, atom, AffineConstantExpr(factor)):
            return [(atom, factor)]
        case AffineConstantExpr(value):
            return [(AffineConstantExpr(1), value)]
        case _:
            return [(expr, 1)]


def dims_as_written(expr: AffineExpr) -> list[int]:
    """Return the distinct dimensions of `expr` in the order in which its text names them."""
    positive, negative = signed_terms(expr)
    found: list[int] = []
    for atom, _ in positive + negative:
        match atom:
            case AffineDimExpr(position):
                found.append(position)
            case AffineBinaryOpExpr(_, inner, _):
                found.extend(dims_as_written(inner))
            case _:
                pass
    return list(dict.fromkeys(found))
