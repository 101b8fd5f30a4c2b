# SPDX-License-Identifier: Apache-2.0
"""
Scalar `arith` and `math` ops as C++ expressions, by table.

Nothing is approximate: `expf` and its kin are CUDA's accurate functions, division is IEEE's.
"""

from collections.abc import Callable, Sequence

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import Float32Type, i1, i8, i16
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cuda_expressions import (
    BinaryOp,
    CallOp,
    CastOp,
    CompareOp,
    NegOp,
    NotOp,
    TernaryOp,
)
from tilewright.dialects.cuda_types import BinaryOperator, Comparison
from tilewright.passes.cuda.writer import Writer

_BINARY: dict[type[Operation], BinaryOperator] = {
    arith.AddfOp: BinaryOperator.ADD,
    arith.SubfOp: BinaryOperator.SUB,
    arith.MulfOp: BinaryOperator.MUL,
    arith.DivfOp: BinaryOperator.DIV,
    arith.AddiOp: BinaryOperator.ADD,
    arith.SubiOp: BinaryOperator.SUB,
    arith.MuliOp: BinaryOperator.MUL,
    arith.DivSIOp: BinaryOperator.DIV,
    arith.RemSIOp: BinaryOperator.REM,
}

_LOGICAL: dict[type[Operation], BinaryOperator] = {
    arith.AndIOp: BinaryOperator.AND,
    arith.OrIOp: BinaryOperator.OR,
}

# Overloaded functions: one name for every type.
_FUNCTIONS: dict[type[Operation], str] = {
    arith.MaximumfOp: "max_nan",
    arith.MinimumfOp: "min_nan",
    arith.MaxSIOp: "max",
    arith.MinSIOp: "min",
    arith.FloorDivSIOp: "floor_div",
    arith.CeilDivSIOp: "ceil_div",
    math.AbsIOp: "abs",
}

# Functions of CUDA's math API, by their name for double; that for float ends in f.
_MATH: dict[type[Operation], str] = {
    arith.MaxnumfOp: "fmax",
    arith.MinnumfOp: "fmin",
    math.AbsFOp: "fabs",
    math.AcosOp: "acos",
    math.AcoshOp: "acosh",
    math.AsinOp: "asin",
    math.AsinhOp: "asinh",
    math.AtanOp: "atan",
    math.Atan2Op: "atan2",
    math.AtanhOp: "atanh",
    math.CbrtOp: "cbrt",
    math.CeilOp: "ceil",
    math.CopySignOp: "copysign",
    math.CosOp: "cos",
    math.CoshOp: "cosh",
    math.ErfOp: "erf",
    math.ExpOp: "exp",
    math.Exp2Op: "exp2",
    math.ExpM1Op: "expm1",
    math.FloorOp: "floor",
    math.FmaOp: "fma",
    math.LogOp: "log",
    math.Log10Op: "log10",
    math.Log1pOp: "log1p",
    math.Log2Op: "log2",
    math.PowFOp: "pow",
    math.RoundOp: "round",
    math.RoundEvenOp: "rint",
    math.RsqrtOp: "rsqrt",
    math.SinOp: "sin",
    math.SinhOp: "sinh",
    math.SqrtOp: "sqrt",
    math.TanOp: "tan",
    math.TanhOp: "tanh",
    math.TruncOp: "trunc",
}

_SIGNED_CASTS = (
    arith.IndexCastOp,
    arith.SIToFPOp,
    arith.FPToSIOp,
    arith.ExtSIOp,
    arith.ExtFOp,
    arith.TruncFOp,
    arith.TruncIOp,
)

_UNSIGNED_CASTS = (arith.ExtUIOp, arith.UIToFPOp)

_ORDERED = {
    "oeq": Comparison.EQ,
    "ogt": Comparison.GT,
    "oge": Comparison.GE,
    "olt": Comparison.LT,
    "ole": Comparison.LE,
    "une": Comparison.NE,
}

# These hold for NaN, where C++'s comparisons do not: each is what the other is not.
_NEGATED = {
    "ugt": Comparison.LE,
    "uge": Comparison.LT,
    "ult": Comparison.GE,
    "ule": Comparison.GT,
}

_SIGNED = {
    "eq": Comparison.EQ,
    "ne": Comparison.NE,
    "sgt": Comparison.GT,
    "sge": Comparison.GE,
    "slt": Comparison.LT,
    "sle": Comparison.LE,
}

Values = Sequence[SSAValue]


def scalar_expression(op: Operation, values: Values, writer: Writer) -> SSAValue | None:
    """The expression for `op` on `values`; None if CUDA IR has none for it."""
    if any(v.type in (i8, i16) for v in op.operands) and not isinstance(op, _SIGNED_CASTS):
        return None  # C++ would compute in int
    match op:
        case arith.NegfOp():
            return NegOp(values[0]).result
        case arith.SelectOp():
            return TernaryOp(values[0], values[1], values[2]).result
        case arith.CmpfOp():
            predicate = arith.CMPF_COMPARISON_OPERATIONS[op.predicate.value.data]
            return _compare_floats(predicate, *values)
        case arith.CmpiOp():
            predicate = arith.CMPI_COMPARISON_OPERATIONS[op.predicate.value.data]
            return _compare_integers(predicate, *values)
        case arith.XOrIOp() if op.result.type == i1:
            return CompareOp(Comparison.NE, *values).result
        case _:
            return _by_table(op, values, writer)


def _by_table(op: Operation, values: Values, writer: Writer) -> SSAValue | None:
    if len(op.results) != 1:
        return None
    kind, type = op.__class__, op.results[0].type
    if (operator := _BINARY.get(kind)) is not None and type != i1:
        return BinaryOp(operator, *values).result
    if (operator := _LOGICAL.get(kind)) is not None and type == i1:
        return BinaryOp(operator, *values).result
    if (function := _FUNCTIONS.get(kind)) is not None and type != i1:
        return CallOp(function, values, writer.type(type)).result
    if (function := _MATH.get(kind)) is not None:
        suffix = "f" if isinstance(type, Float32Type) else ""
        return CallOp(f"{function}{suffix}", values, writer.type(type)).result
    if _is_cast(op):
        return _cast(values[0], writer, op.results[0])
    return None


def _is_cast(op: Operation) -> bool:
    """A bool casts as unsigned (true is 1), everything else as signed."""
    if isinstance(op, _SIGNED_CASTS):
        return i1 not in (op.operands[0].type, op.results[0].type)
    return isinstance(op, _UNSIGNED_CASTS) and op.operands[0].type == i1


def _cast(value: SSAValue, writer: Writer, result: SSAValue) -> SSAValue:
    type = writer.type(result.type)
    return value if value.type == type else CastOp(value, type).result


def _compare_floats(predicate: str, left: SSAValue, right: SSAValue) -> SSAValue | None:
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


def _compare_integers(predicate: str, left: SSAValue, right: SSAValue) -> SSAValue | None:
    comparison = _SIGNED.get(predicate)
    if comparison is None or (left.type == i1 and predicate not in ("eq", "ne")):
        return None
    return CompareOp(comparison, left, right).result
