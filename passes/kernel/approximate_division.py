# SPDX-License-Identifier: Apache-2.0
"""
Allows divisions to be approximate in loops that multiply and add.

    scf.for %k = %0 to %n step %1 {
      %e = math.exp %x : f32
      %d = arith.addf %e, %one : f32
      %h = arith.divf %y, %d : f32
      ...                               // math.fma
    }

becomes

    scf.for %k = %0 to %n step %1 {
      %e = math.exp %x : f32
      %d = arith.addf %e, %one : f32
      %h = arith.divf %y, %d fastmath<afn> : f32
      ...
    }

Correct rounding takes a dozen instructions and a branch, which such a loop has no time for; within
2 units in the last place it takes half of them. The divisor has to be at least 1 (or NaN): then no
quotient overflows, and infinities, zeros and NaN give what they give elsewhere. In other kernels a
division waits for memory, and stays as it is.
"""

from xdsl.context import Context
from xdsl.dialects import arith, math, scf
from xdsl.dialects.builtin import FloatAttr, ModuleOp, f32
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

from tilewright.dialects import kernel
from tilewright.passes.trace import Rule, rewriting, skipped

RULE = Rule("k", 8, "approximate_division")

APPROXIMATE = arith.FastMathFlagsAttr([FastMathFlag.APPROX_FUNC])

_NEVER_NEGATIVE = (math.ExpOp, math.Exp2Op, math.AbsFOp, math.SqrtOp)


def legal(op: arith.DivfOp) -> str | None:
    """Why the quotient has to be rounded correctly, or None."""
    if op.result.type != f32:
        return "only float32 has an approximate division"
    return None if _is_at_least_one(op.rhs) else "the divisor may be less than 1"


def _is_at_least_one(value: SSAValue) -> bool:
    """Whether `value` is 1, more, or NaN."""
    match value.owner:
        case arith.ConstantOp(value=FloatAttr(value=constant)):
            return constant.data >= 1
        case arith.MaximumfOp(lhs=left, rhs=right):
            return _is_at_least_one(left) or _is_at_least_one(right)
        case arith.AddfOp(lhs=left, rhs=right):
            one_and_more = _is_at_least_one(left) and _is_never_negative(right)
            return one_and_more or (_is_never_negative(left) and _is_at_least_one(right))
        case _:
            return False


def _is_never_negative(value: SSAValue) -> bool:
    op = value.owner
    is_square = isinstance(op, arith.MulfOp) and op.lhs is op.rhs
    return is_square or isinstance(op, _NEVER_NEGATIVE) or _is_at_least_one(value)


def is_worth_it(op: arith.DivfOp) -> bool:
    """Whether a loop around `op` has multiply-adds to do meanwhile."""
    scope: Operation | None = op.parent_op()
    while scope is not None and not isinstance(scope, kernel.FuncOp):
        if isinstance(scope, scf.ForOp) and any(isinstance(i, math.FmaOp) for i in scope.walk()):
            return True
        scope = scope.parent_op()
    return False


class _ApproximateDivision(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.DivfOp, rewriter: PatternRewriter) -> None:
        if not is_worth_it(op):
            return
        if (reason := legal(op)) is not None:
            skipped(RULE, kernel.function_of(op), reason)
            return
        with rewriting(RULE, kernel.function_of(op)):
            op.properties["fastmath"] = APPROXIMATE
            rewriter.notify_op_modified(op)


class ApproximateDivisionPass(ModulePass):
    """Allow divisions to be approximate in loops that multiply and add."""

    name = "approximate-division"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Every division of the module."""
        PatternRewriteWalker(_ApproximateDivision(), apply_recursively=False).rewrite_module(op)
