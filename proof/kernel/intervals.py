# SPDX-License-Identifier: Apache-2.0
"""
Intervals of expressions: a fast proof of claims that hold at all steps, whatever the other facts.

    %thread floordiv 8 * 4 + %i    0 to 63, with %thread in 128 and %i in 4

An interval holds all values, and may hold others. Claims that it does not prove are left to z3.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import gcd

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from tilewright.dialects.index import Range
from tilewright.proof.answer import PROVED, Answer
from tilewright.proof.claim import Claim
from tilewright.proof.formulas import All, Formula, IsZero, NonNegative, Not, Some, holds
from tilewright.proof.solver import Solver


@dataclass(frozen=True)
class IntervalClaim(Claim):
    """Claim that z3 decides only if the intervals of its expressions do not."""

    def decide(self, solver: Solver) -> Answer:
        parts = self.claim.parts if isinstance(self.claim, All) else [self.claim]
        rest = [part for part in parts if not is_always(part, self.variables.ranges)]
        if not rest and self._reason_idle(solver) is None:
            return PROVED
        return super(IntervalClaim, replace(self, claim=All(rest))).decide(solver)

    def _reason_idle(self, solver: Solver) -> str | None:
        return (
            None if holds(All(self.steps), self.variables.first) else super()._reason_idle(solver)
        )


def interval(expr: AffineExpr, ranges: Sequence[Range]) -> Range:
    """Return an interval of all values of an expression, with variable `n` within `ranges[n]`."""
    match expr:
        case AffineConstantExpr(value):
            return Range(value, value)
        case AffineDimExpr(position):
            return ranges[position]
        case AffineBinaryOpExpr(kind, left, right):
            return _binary(kind, interval(left, ranges), interval(right, ranges))
        case _:
            raise ValueError(f"no expression of variables: {expr}")


def _binary(kind: AffineBinaryOpKind, one: Range, other: Range) -> Range:
    match kind:
        case AffineBinaryOpKind.Add:
            return Range(one.low + other.low, one.high + other.high)
        case AffineBinaryOpKind.Mul:
            ends = [a * b for a in one for b in other]
            return Range(min(ends), max(ends))
        case AffineBinaryOpKind.FloorDiv:
            return Range(one.low // other.low, one.high // other.low)
        case AffineBinaryOpKind.CeilDiv:
            return Range(-(-one.low // other.low), -(-one.high // other.low))
        case AffineBinaryOpKind.Mod:
            return _remainder(one, other.low)


def _remainder(number: Range, divisor: int) -> Range:
    if number.low // divisor == number.high // divisor:
        return Range(number.low % divisor, number.high % divisor)
    return Range(0, divisor - 1)


def is_always(formula: Formula, ranges: Sequence[Range]) -> bool:
    """True if intervals prove the formula; false if they do not."""
    proves = partial(is_always, ranges=ranges)
    match formula:
        case NonNegative(expr):
            return interval(expr, ranges).low >= 0
        case IsZero(AffineBinaryOpExpr(AffineBinaryOpKind.Mod, number, AffineConstantExpr(by))):
            return factor_of(number) % by == 0
        case IsZero(expr):
            return interval(expr, ranges) == Range(0, 0)
        case All(parts):
            return all(map(proves, parts))
        case Some(parts):
            return any(map(proves, parts))
        case Not(part):
            return is_never(part, ranges)


def is_never(formula: Formula, ranges: Sequence[Range]) -> bool:
    """True if intervals refute the formula at each point; false if they do not."""
    refutes = partial(is_never, ranges=ranges)
    match formula:
        case NonNegative(expr):
            return interval(expr, ranges).high < 0
        case IsZero(expr):
            known = interval(expr, ranges)
            return known.low > 0 or known.high < 0
        case All(parts):
            return any(map(refutes, parts))
        case Some(parts):
            return all(map(refutes, parts))
        case Not(part):
            return is_always(part, ranges)


def factor_of(expr: AffineExpr) -> int:
    """Return a number that divides all values of an expression; 0 for the expression 0."""
    match expr:
        case AffineConstantExpr(value):
            return abs(value)
        case AffineBinaryOpExpr(AffineBinaryOpKind.Add | AffineBinaryOpKind.Mod, left, right):
            return gcd(factor_of(left), factor_of(right))
        case AffineBinaryOpExpr(AffineBinaryOpKind.Mul, left, right):
            return factor_of(left) * factor_of(right)
        case _:
            return 1


def parts_of(expr: AffineExpr) -> Iterator[AffineExpr]:
    """Yield each sum, product and quotient of which an expression is computed, itself included."""
    if isinstance(expr, AffineBinaryOpExpr):
        yield from parts_of(expr.lhs)
        yield from parts_of(expr.rhs)
        yield expr
