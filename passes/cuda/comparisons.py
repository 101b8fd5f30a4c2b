# SPDX-License-Identifier: Apache-2.0
"""Lowering of `arith.cmpf` and `arith.cmpi` to C++ comparisons, by table."""

from collections.abc import Callable

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType, i1
from xdsl.ir import SSAValue

from tilewright.dialects.cuda.expressions import CallOp
from tilewright.dialects.cuda.operators import BinaryOp, CompareOp, NotOp
from tilewright.dialects.cuda.types import BinaryOperator, Comparison
from tilewright.passes.cuda.casts import as_unsigned, is_widened, narrowed

_ORDERED = {
    "oeq": Comparison.EQ,
    "ogt": Comparison.GT,
    "oge": Comparison.GE,
    "olt": Comparison.LT,
    "ole": Comparison.LE,
    "une": Comparison.NE,
}

# These predicates hold for NaN, and C++'s comparisons do not: each is the negation of one.
_NEGATED = {
    "ugt": Comparison.LE,
    "uge": Comparison.LT,
    "ult": Comparison.GE,
    "ule": Comparison.GT,
}

_EQUALITY = {"eq": Comparison.EQ, "ne": Comparison.NE}

_SIGNED = {
    "sgt": Comparison.GT,
    "sge": Comparison.GE,
    "slt": Comparison.LT,
    "sle": Comparison.LE,
}

_UNSIGNED = {
    "ugt": Comparison.GT,
    "uge": Comparison.GE,
    "ult": Comparison.LT,
    "ule": Comparison.LE,
}


def compare_floats(op: arith.CmpfOp, left: SSAValue, right: SSAValue) -> SSAValue | None:
    """
    Return the C++ comparison, or None for the predicates `true` and `false`, which compare nothing.
    """
    predicate = arith.CMPF_COMPARISON_OPERATIONS[op.predicate.value.data]
    if (comparison := _ORDERED.get(predicate)) is not None:
        return CompareOp(comparison, left, right).result
    if (comparison := _NEGATED.get(predicate)) is not None:
        return NotOp(CompareOp(comparison, left, right).result).result
    make = _OTHER_COMPARISONS.get(predicate)
    return None if make is None else make(left, right)


def _differ(left: SSAValue, right: SSAValue) -> SSAValue:
    return CallOp("differ", [left, right], i1).result


def _not_differ(left: SSAValue, right: SSAValue) -> SSAValue:
    return NotOp(_differ(left, right)).result


def _unordered(left: SSAValue, right: SSAValue) -> SSAValue:
    first: SSAValue = CallOp("isnan", [left], i1).result
    if left is right:
        return first
    return BinaryOp(BinaryOperator.OR, first, CallOp("isnan", [right], i1).result).result


def _ordered(left: SSAValue, right: SSAValue) -> SSAValue:
    return NotOp(_unordered(left, right)).result


_OTHER_COMPARISONS: dict[str, Callable[[SSAValue, SSAValue], SSAValue]] = {
    "one": _differ,
    "ueq": _not_differ,
    "uno": _unordered,
    "ord": _ordered,
}


def compare_integers(op: arith.CmpiOp, left: SSAValue, right: SSAValue) -> SSAValue | None:
    """
    Return the C++ comparison of two integers or indices; None for unsigned predicates on operands
    that are no integers. Signed predicates of bools swap their operands, because true is -1 as a
    signed bit.
    """
    predicate = arith.CMPI_COMPARISON_OPERATIONS[op.predicate.value.data]
    if is_widened(left) and is_widened(right):
        left, right = narrowed(left), narrowed(right)
    if (comparison := _EQUALITY.get(predicate)) is not None:
        return CompareOp(comparison, left, right).result
    if (comparison := _SIGNED.get(predicate)) is not None:
        operands = (right, left) if left.type == i1 else (left, right)
        return CompareOp(comparison, *operands).result
    if not isinstance(left.type, IntegerType):
        return None
    return CompareOp(_UNSIGNED[predicate], as_unsigned(left), as_unsigned(right)).result
