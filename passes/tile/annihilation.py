# SPDX-License-Identifier: Apache-2.0
"""
Proof that a value is zero where a condition fails, because the values it is computed from are.

    %0 = loop.load %g[%i, %k] where [64 - %k]      zero beyond
    %1 = silu of %0                                0 / (1 + exp(-0)) = 0
    %2 = loop.load %w[%k, %j] where [64 - %k]      zero beyond
    %3 = arith.mulf %1, %2                         0 * 0 = 0: a sum may take it in without a mask

Masked loads are zero where their mask fails, constants keep their value, and all other values are
unknown. Zero times an unknown float is unknown, since it may be infinite or NaN; for integers it is
zero. Therefore `exp(s - max) * v` is not known to vanish: `exp(0 - max)` may be infinite.

    %1 = loop.predicate [%i - %k] : i1
    %2 = arith.select %1, %0, %minus_infinity
    %3 = math.exp %2                               zero beyond the diagonal
    %4 = arith.mulf %3, %v fastmath<nnan,ninf>     zero, if %v is finite as the flags say

The flags describe what the program computes, not what passes add to it. The flags say nothing about
steps beyond the end of a reduction. For a step of the program the flags hold, so that the step may
be left out.
"""

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

from xdsl.dialects import arith
from xdsl.dialects import math as math_dialect
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import loop, scalar
from tilewright.dialects.axes import Access, canonical_access
from tilewright.dialects.fastmath import counts_as_finite
from tilewright.dialects.needed_first import needed_first, operands_of

Known = float | int | None
"""Number that a value has where the condition fails, or None if it is unknown."""


def _quotient(dividend: float, divisor: float) -> float:
    return dividend / divisor


def _unsigned(value: int) -> int:
    """
    Return `value` if it is the same number without a sign; raise `ValueError` if it is negative.
    The bit of `true` is -1 with a sign, and 1 without.
    """
    if value < 0:
        raise ValueError
    return value


_FUNCTIONS: Mapping[type[Operation], Callable[..., Any]] = {
    arith.NegfOp: operator.neg,
    math_dialect.AbsFOp: abs,
    math_dialect.AbsIOp: abs,
    arith.AddfOp: operator.add,
    arith.AddiOp: operator.add,
    arith.SubfOp: operator.sub,
    arith.SubiOp: operator.sub,
    arith.MulfOp: operator.mul,
    arith.MuliOp: operator.mul,
    arith.DivfOp: _quotient,
    scalar.FmodOp: math.fmod,
    arith.MaximumfOp: max,
    arith.MaxSIOp: max,
    arith.MinimumfOp: min,
    arith.MinSIOp: min,
    arith.ExtFOp: float,
    arith.TruncFOp: float,
    arith.SIToFPOp: float,
    arith.UIToFPOp: _unsigned,
    arith.FPToSIOp: int,
    arith.ExtSIOp: int,
    arith.ExtUIOp: _unsigned,
    arith.TruncIOp: int,
    math_dialect.ExpOp: math.exp,
    math_dialect.Exp2Op: math.exp2,
    math_dialect.ExpM1Op: math.expm1,
    math_dialect.LogOp: math.log,
    math_dialect.Log1pOp: math.log1p,
    math_dialect.SqrtOp: math.sqrt,
    math_dialect.SinOp: math.sin,
    math_dialect.CosOp: math.cos,
    math_dialect.TanOp: math.tan,
    math_dialect.AsinOp: math.asin,
    math_dialect.AtanOp: math.atan,
    math_dialect.SinhOp: math.sinh,
    math_dialect.CoshOp: math.cosh,
    math_dialect.TanhOp: math.tanh,
    math_dialect.AsinhOp: math.asinh,
    math_dialect.AtanhOp: math.atanh,
    math_dialect.ErfOp: math.erf,
    scalar.ErfcOp: math.erfc,
    math_dialect.FloorOp: math.floor,
    math_dialect.CeilOp: math.ceil,
    math_dialect.RoundEvenOp: round,
    math_dialect.TruncOp: math.trunc,
}
"""Functions that are evaluated with Python's numbers, to a few digits."""

_SUMS = (arith.AddfOp, arith.SubfOp)

_SMALLEST, _LARGEST = 2.0**-14, 127
"""
Magnitudes between which results are trusted: no float type rounds them to zero, not even a half,
and no integer type wraps them.
"""


def beyond(value: SSAValue, condition: Access, *, if_finite: bool = False) -> Known:
    """
    Return the number that `value` is wherever `condition`, one expression that must be >= 0, fails;
    None if it is unknown.

    With `if_finite`, the factors of a product count as finite if its `fastmath` flags promise it.
    Do not use it where passes have added steps to those of the program.
    """
    return _Beyond(condition, if_finite).value(value)


def vanishes_beyond(value: SSAValue, condition: Access) -> bool:
    """True if `value` is 0 wherever `condition` fails."""
    return beyond(value, condition) == 0


class _Beyond:
    """
    Search for the numbers that SSA values are where one condition fails; results are memoised.
    """

    def __init__(self, condition: Access, if_finite: bool):
        self.condition, self.if_finite = condition, if_finite
        self.known: dict[SSAValue, Known] = {}

    def value(self, value: SSAValue) -> Known:
        for each in needed_first(value, self.known, operands_of):
            owner = each.owner
            self.known[each] = self._result(owner) if isinstance(owner, Operation) else None
        return self.known[value]

    def _result(self, op: Operation) -> Known:
        match op:
            case arith.ConstantOp(value=FloatAttr() | IntegerAttr() as attr):
                return _trusted(attr.value.data)
            case loop.LoadOp():
                return 0 if self._needs(op.where or ((), ())) else None
            case loop.PredicateOp():
                return 0 if self._needs((op.map.data.results, op.indices)) else None
            case arith.SelectOp():
                return self._selected(op)
            case arith.MuliOp() | arith.AndIOp() if 0 in map(self.value, op.operands):
                return 0
            case arith.MulfOp() if self._drops_nan(op) and 0 in map(self.value, op.operands):
                return 0
            case _:
                return self._computed(op)

    def _drops_nan(self, op: arith.MulfOp) -> bool:
        return self.if_finite and counts_as_finite(op.fastmath)

    def _needs(self, mask: Access) -> bool:
        """True if a mask holds only where the condition does, because it contains the condition."""
        (expr,), operands = self.condition
        shift = [AffineExpr.dimension(len(mask[1]) + d) for d in range(len(operands))]
        named = expr.replace_dims_and_symbols(shift, ())
        map, _ = canonical_access([*mask[0], named], [*mask[1], *operands])
        return map.results[-1] in map.results[:-1]

    def _selected(self, op: arith.SelectOp) -> Known:
        taken, lhs, rhs = map(self.value, op.operands)
        if taken is not None:
            return lhs if taken else rhs
        return lhs if lhs == rhs else None

    def _computed(self, op: Operation) -> Known:
        function = _FUNCTIONS.get(type(op))
        operands = [self.value(operand) for operand in op.operands]
        if function is None or None in operands:
            return None
        try:
            result = function(*operands)
        except (ArithmeticError, ValueError):
            return None
        if result == 0:  # a zero by cancellation or rounding proves nothing
            return 0 if 0 in operands or -math.inf in operands else None
        if isinstance(op, _SUMS) and abs(result) * 2 < max(map(_size, operands)):
            return None
        return _trusted(result)


def _size(value: Any) -> float:
    return abs(value)


def _trusted(value: float | int) -> Known:
    """
    Return `value` if every type of the hardware represents it about exactly: 0, -inf, or a
    magnitude that neither overflows nor underflows. Return None otherwise.
    """
    is_exact = value in (0, -math.inf)
    return value if is_exact or _SMALLEST <= abs(value) <= _LARGEST else None
