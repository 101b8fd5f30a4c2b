# SPDX-License-Identifier: Apache-2.0
"""
Lowering of scalar `arith`, `math` and `scalar` ops to C++ expressions, by table.

Only divisions and exponentials that are marked as approximate are approximate: `expf` and similar
functions are the accurate ones of CUDA. No result is undefined: integers wrap around in functions
of the prelude, because signed overflow is undefined in C++. Only indices, whose ranges are known,
are computed with C++'s operators.
"""

from collections.abc import Sequence
from math import e, log2

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import Float32Type, FloatAttr, IndexType, f32, f64, i1, i32, i64
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from tilewright.dialects import scalar
from tilewright.dialects.cuda.expressions import CallOp, LiteralOp
from tilewright.dialects.cuda.operators import (
    BinaryOp,
    CompareOp,
    NegOp,
    TernaryOp,
)
from tilewright.dialects.cuda.types import BinaryOperator, Comparison
from tilewright.dialects.kernel.matrix import HalveTf32Op, NearestFiniteOp, RoundTf32Op
from tilewright.passes.cuda.casts import cast_expression
from tilewright.passes.cuda.writer import Writer

Table = dict[type[Operation], BinaryOperator]
Names = dict[type[Operation], str]

_ON_FLOATS: Table = {
    arith.AddfOp: BinaryOperator.ADD,
    arith.SubfOp: BinaryOperator.SUB,
    arith.MulfOp: BinaryOperator.MUL,
    arith.DivfOp: BinaryOperator.DIV,
}

_ON_INDICES: Table = {
    arith.AddiOp: BinaryOperator.ADD,
    arith.SubiOp: BinaryOperator.SUB,
    arith.MuliOp: BinaryOperator.MUL,
    arith.DivSIOp: BinaryOperator.DIV,
    arith.RemSIOp: BinaryOperator.REM,
}

_ON_INTEGERS: Table = {
    arith.DivSIOp: BinaryOperator.DIV,
    arith.RemSIOp: BinaryOperator.REM,
    arith.AndIOp: BinaryOperator.BIT_AND,
    arith.OrIOp: BinaryOperator.BIT_OR,
    arith.XOrIOp: BinaryOperator.BIT_XOR,
}

# `a && b` would be a branch, behind which loads of later steps wait.
_ON_BOOLS: Table = {
    arith.AndIOp: BinaryOperator.BIT_AND,
    arith.OrIOp: BinaryOperator.BIT_OR,
    arith.MuliOp: BinaryOperator.BIT_AND,
}

_OPERATORS: dict[Attribute, Table] = {
    f32: _ON_FLOATS,
    f64: _ON_FLOATS,
    IndexType(): _ON_INDICES,
    i32: _ON_INTEGERS,
    i64: _ON_INTEGERS,
    i1: _ON_BOOLS,
}

_DIFFERENCES = (arith.XOrIOp, arith.AddiOp, arith.SubiOp)
"""Ops that equal `!=` on single bits."""

# Overloaded functions, with one name for all types.
_FLOAT_FUNCTIONS: Names = {
    arith.MaximumfOp: "max_nan",
    arith.MinimumfOp: "min_nan",
    RoundTf32Op: "round_tf32",
    HalveTf32Op: "halve_tf32",
    NearestFiniteOp: "nearest_finite",
}

_INDEX_FUNCTIONS: Names = {
    arith.MaxSIOp: "max",
    arith.MinSIOp: "min",
    arith.FloorDivSIOp: "floor_div",
    arith.CeilDivSIOp: "ceil_div",
    math.AbsIOp: "abs",
}

_INTEGER_FUNCTIONS: Names = {
    **_INDEX_FUNCTIONS,
    arith.AddiOp: "wrapping_add",
    arith.SubiOp: "wrapping_sub",
    arith.MuliOp: "wrapping_mul",
    arith.ShLIOp: "shift_left",
    arith.ShRSIOp: "shift_right",
    arith.ShRUIOp: "shift_right_logical",
    math.AbsIOp: "wrapping_abs",
    math.IPowIOp: "integer_pow",
}

_FUNCTIONS: dict[Attribute, Names] = {
    f32: _FLOAT_FUNCTIONS,
    f64: _FLOAT_FUNCTIONS,
    IndexType(): _INDEX_FUNCTIONS,
    i32: _INTEGER_FUNCTIONS,
    i64: _INTEGER_FUNCTIONS,
}

# Functions of CUDA's math API, by their name for double; the name for float ends in f.
_MATH: Names = {
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
    scalar.ErfcOp: "erfc",
    scalar.FmodOp: "fmod",
}


def scalar_expression(op: Operation, values: Sequence[SSAValue], writer: Writer) -> SSAValue | None:
    """Return the expression for `op` on `values`, or None if CUDA IR has none."""
    match op:
        case arith.SelectOp():
            return _selected(*values)
        case arith.CmpfOp() if op.lhs.type in (f32, f64):
            return _compared(op, *values)
        case arith.CmpiOp() if op.lhs.type in (i1, i32, i64, IndexType()):
            return _compared(op, *values)
        case arith.NegfOp() if op.result.type in (f32, f64):
            return NegOp(values[0]).result
        case arith.DivfOp() if op.result.type == f32 and _may_be_approximate(op):
            return CallOp("divide_approximately", values, f32).result
        case math.ExpOp() if op.result.type == f32 and _may_be_approximate(op):
            return _approximate_exponential(values[0], writer)
        case _ if len(op.results) != 1 or not values:
            return None
        case _ if (found := cast_expression(op, values[0], writer)) is not None:
            return found
        case _:
            return _by_table(op, op.results[0].type, values, writer)


def _may_be_approximate(op: arith.DivfOp | math.ExpOp) -> bool:
    return FastMathFlag.APPROX_FUNC in op.fastmath.data


def _approximate_exponential(value: SSAValue, writer: Writer) -> SSAValue:
    """Return the exponential of `value`: a power of 2 if that saves a product with a literal."""
    match value.owner:
        case BinaryOp(operator=operator, lhs=number, rhs=OpResult(op=LiteralOp(value=factor))) if (
            operator.data is BinaryOperator.MUL and value.owner.parent is None
        ):
            scale = writer.literal(FloatAttr(factor.value.data * log2(e), f32))
            value.owner.erase()  # an expression has one use
            power = BinaryOp(BinaryOperator.MUL, number, scale)
            return CallOp("exp2_approximately", [power.result], f32).result
        case _:
            return CallOp("exp_approximately", [value], f32).result


def _compared(op: arith.CmpfOp | arith.CmpiOp, left: SSAValue, right: SSAValue) -> SSAValue | None:
    from tilewright.passes.cuda.comparisons import compare_floats, compare_integers

    if isinstance(op, arith.CmpfOp):
        return compare_floats(op, left, right)
    return compare_integers(op, left, right)


def _selected(condition: SSAValue, value: SSAValue, other: SSAValue) -> SSAValue:
    """Return a choice between two values; a choice between `value` and false is written as `&&`."""
    literal = other.owner
    if isinstance(literal, LiteralOp) and other.type == i1 and not literal.value.value.data:
        return BinaryOp(BinaryOperator.AND, condition, value).result
    return TernaryOp(condition, value, other).result


def _by_table(
    op: Operation, type: Attribute, values: Sequence[SSAValue], writer: Writer
) -> SSAValue | None:
    kind = op.__class__
    if type == i1 and kind in _DIFFERENCES:
        return CompareOp(Comparison.NE, *values).result
    if (operator := _OPERATORS.get(type, {}).get(kind)) is not None:
        return BinaryOp(operator, *values).result
    if (function := _FUNCTIONS.get(type, {}).get(kind)) is not None:
        return CallOp(function, values, writer.type(type)).result
    if type in (f32, f64) and (function := _MATH.get(kind)) is not None:
        suffix = "f" if isinstance(type, Float32Type) else ""
        return CallOp(f"{function}{suffix}", values, type).result
    return None
