# SPDX-License-Identifier: Apache-2.0
"""
Chains of divisions: several quotients and remainders of one expression, written by each other.

    x floordiv 12  ->  (x floordiv 4) floordiv 3
    x mod 12       ->  ((x floordiv 4) mod 3) * 4 + x mod 4       where `x floordiv 4` occurs, too

The rules hold for all integers and positive divisors. A solver that knows one quotient then knows
the others, and does not have to find out that they are digits of one number.
"""

from collections.abc import Iterable, Mapping, Sequence

from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineExpr

_DIVISIONS = (AffineBinaryOpKind.FloorDiv, AffineBinaryOpKind.Mod)

Divisors = Mapping[AffineExpr, Sequence[int]]
"""Divisors of each divided expression, in ascending order."""


def divisors_in(exprs: Iterable[AffineExpr]) -> Divisors:
    """Return the divisors of each expression that is divided somewhere in `exprs`."""
    found = dict[AffineExpr, set[int]]()
    for expr in (inner for outer in exprs for inner in outer.dfs()):
        match expr:
            case AffineBinaryOpExpr(kind, inner, AffineConstantExpr(divisor)) if (
                kind in _DIVISIONS and divisor > 1
            ):
                found.setdefault(inner, set()).add(divisor)
            case _:
                pass
    return {expr: sorted(divisors) for expr, divisors in found.items()}


def chained(expr: AffineExpr, divisors: Divisors) -> AffineExpr:
    """Return an expression with equal values, whose divisions are steps of a chain."""
    match expr:
        case AffineBinaryOpExpr(kind, inner, AffineConstantExpr(divisor)) if (
            kind in _DIVISIONS and divisor > 1
        ):
            smaller = [d for d in divisors.get(inner, ()) if d < divisor and divisor % d == 0]
            if not smaller:
                return AffineBinaryOpExpr(kind, chained(inner, divisors), expr.rhs)
            step = smaller[-1]
            quotient = chained(inner // step, divisors)
            if kind is AffineBinaryOpKind.FloorDiv:
                return quotient // (divisor // step)
            return quotient % (divisor // step) * step + chained(inner % step, divisors)
        case AffineBinaryOpExpr(kind, left, right):
            return AffineBinaryOpExpr(kind, chained(left, divisors), chained(right, divisors))
        case _:
            return expr
