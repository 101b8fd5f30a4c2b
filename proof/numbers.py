# SPDX-License-Identifier: Apache-2.0
"""
Divided expressions of an access as quotients of one number.

    (%b * 4 + %w) floordiv 15 and (%b * 8 + %w * 2 + %v) mod 30, with %v in 2

have two dividends; the first is half of the second, `x floordiv 2`. It is rewritten to

    x floordiv 30 and x mod 30, with x = %b * 8 + %w * 2 + %v

This holds where the axes are within their ranges, which is a fact of every point.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from tilewright.dialects.index import Range
from tilewright.proof.chains import divisors_in


@dataclass(frozen=True)
class _Linear:
    """A sum of variables with factors, and a constant."""

    factors: Mapping[int, int]
    constant: int


def as_quotients(exprs: Sequence[AffineExpr], ranges: Sequence[Range]) -> Sequence[AffineExpr]:
    """Return expressions with equal values within `ranges`, with as few dividends as possible."""
    dividends = {
        inner: linear for inner in divisors_in(exprs) if (linear := _linear(inner)) is not None
    }
    quotients = dict[AffineExpr, AffineExpr]()
    for inner, linear in dividends.items():
        found = [
            (factor, other)
            for other, finer in dividends.items()
            if (factor := _factor(linear, finer, ranges)) is not None
        ]
        if found:
            factor, other = max(found, key=lambda each: each[0])
            quotients[inner] = other // factor
    return [_rewritten(expr, quotients) for expr in exprs]


def _linear(expr: AffineExpr) -> _Linear | None:
    """
    Return a sum without divisions, or None. `dialects.index.sum_of` is not used: proofs must not
    trust the simplifications of the compiler that they check.
    """
    match expr:
        case AffineConstantExpr(value):
            return _Linear({}, value)
        case AffineDimExpr(position):
            return _Linear({position: 1}, 0)
        case AffineBinaryOpExpr(AffineBinaryOpKind.Add, left, right):
            first, second = _linear(left), _linear(right)
            if first is None or second is None:
                return None
            both = {**first.factors, **second.factors}
            factors = {at: first.factors.get(at, 0) + second.factors.get(at, 0) for at in both}
            return _Linear(factors, first.constant + second.constant)
        case AffineBinaryOpExpr(AffineBinaryOpKind.Mul, left, AffineConstantExpr(by)):
            if (one := _linear(left)) is None:
                return None
            return _Linear({at: f * by for at, f in one.factors.items()}, one.constant * by)
        case _:
            return None


def _factor(coarse: _Linear, fine: _Linear, ranges: Sequence[Range]) -> int | None:
    """Return `k > 1` with `coarse = fine floordiv k` for all variables within `ranges`, or None."""
    at = next((at for at, factor in coarse.factors.items() if factor), None)
    if at is None:
        return None
    factor, rest = divmod(fine.factors.get(at, 0), coarse.factors[at])
    if rest or factor < 2:
        return None
    left = {
        at: fine.factors.get(at, 0) - factor * coarse.factors.get(at, 0)
        for at in {**fine.factors, **coarse.factors}
    }
    constant = fine.constant - factor * coarse.constant
    if constant < 0 or any(each < 0 for each in left.values()):
        return None
    most = constant + sum(each * ranges[at].high for at, each in left.items())
    return factor if most < factor else None


def _rewritten(expr: AffineExpr, quotients: Mapping[AffineExpr, AffineExpr]) -> AffineExpr:
    match expr:
        case AffineBinaryOpExpr(AffineBinaryOpKind.FloorDiv, inner, AffineConstantExpr(by)) if (
            inner in quotients
        ):
            match quotients[inner]:
                case AffineBinaryOpExpr(_, number, AffineConstantExpr(factor)):
                    return number // (factor * by)
                case _:
                    return expr
        case AffineBinaryOpExpr(AffineBinaryOpKind.Mod, inner, _) if inner in quotients:
            return AffineBinaryOpExpr(AffineBinaryOpKind.Mod, quotients[inner], expr.rhs)
        case AffineBinaryOpExpr(kind, left, right):
            return AffineBinaryOpExpr(
                kind, _rewritten(left, quotients), _rewritten(right, quotients)
            )
        case _:
            return expr
