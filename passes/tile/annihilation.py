# SPDX-License-Identifier: Apache-2.0
"""
Whether a value is zero where a condition fails, because what it is made of is.

    %0 = loop.load %g[%i, %k] where [64 - %k]      zero beyond
    %1 = silu of %0                                0 / (1 + exp(-0)) = 0
    %2 = loop.load %w[%k, %j] where [64 - %k]      zero beyond
    %3 = arith.mulf %1, %2                         0 * 0 = 0: a sum may take it in without a mask

Masked loads are zero, constants are what they are, and everything else is unknown. Zero times
something unknown is unknown, since that may be infinite or NaN; of integers it is zero. So
`exp(s - max) * v` does not vanish beyond: `exp(0 - max)` may be infinite.

    %1 = loop.predicate [%i - %k] : i1
    %2 = arith.select %1, %0, %minus_infinity
    %3 = math.exp %2                               zero beyond the diagonal
    %4 = arith.mulf %3, %v fastmath<nnan,ninf>     zero, if %v is finite as the flags say

The flags are about what the program computes, not about what passes add to it: of steps beyond the
end of a reduction they say nothing. Of a step of the program they do, so that it may be left out.
"""

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

from xdsl.dialects import arith
from xdsl.dialects import math as math_dialect
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import loop, scalar
from tilewright.dialects.axes import Access, canonical_access
from tilewright.dialects.needed_first import needed_first, operands_of

Known = float | int | None
"""What a value is where the condition fails, None if that is unknown."""


def _quotient(dividend: float, divisor: float) -> float:
    return dividend / divisor


def _unsigned(value: int) -> int:
    """What is the same without a sign; -1 is not: the bit of `true` is 1."""
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
"""What we compute with Python's numbers, to a few digits."""

_SUMS = (arith.AddfOp, arith.SubfOp)

_FINITE = {FastMathFlag.NO_NANS, FastMathFlag.NO_INFS}

_SMALLEST, _LARGEST = 2.0**-14, 127
"""No float type, not even a half, rounds what lies between to zero; no integer type wraps it."""


def beyond(value: SSAValue, condition: Access, *, if_finite: bool = False) -> Known:
    """
    What `value` is wherever `condition`, one expression that must be >= 0, fails. With
    `if_finite` products are of finite factors whose `fastmath` says so: not where passes have added
    steps to those of the program.
    """
    return _Beyond(condition, if_finite).value(value)


def vanishes_beyond(value: SSAValue, condition: Access) -> bool:
    """True if `value` is 0 wherever `condition` fails."""
    return beyond(value, condition) == 0


class _Beyond:
    """What values are where a condition fails."""

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
                return _believed(attr.value.data)
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
        return self.if_finite and _FINITE <= {*op.fastmath.data}

    def _needs(self, mask: Access) -> bool:
        """True if a mask holds only where the condition does: whether it names it."""
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
        if result == 0:  # not of what cancels or is rounded off
            return 0 if 0 in operands or -math.inf in operands else None
        if isinstance(op, _SUMS) and abs(result) * 2 < max(map(_size, operands)):
            return None
        return _believed(result)


def _size(value: Any) -> float:
    return abs(value)


def _believed(value: float | int) -> Known:
    """Return a number that is much the same on the hardware."""
    is_exact = value in (0, -math.inf)
    return value if is_exact or _SMALLEST <= abs(value) <= _LARGEST else None
