# SPDX-License-Identifier: Apache-2.0
"""
Allows approximate division in loops that multiply and add.

    %s = loop.reduce %k in 64 with add {
      %e = math.exp %x : f32
      %d = arith.addf %e, %one : f32
      %h = arith.divf %y, %d : f32
      %p = arith.mulf %h, %w : f32
      loop.yield %p : f32
    } : f32

becomes

    %s = loop.reduce %k in 64 with add {
      %e = math.exp %x : f32
      %d = arith.addf %e, %one : f32
      %h = arith.divf %y, %d fastmath<afn> : f32
      %p = arith.mulf %h, %w : f32
      loop.yield %p : f32
    } : f32

Correct rounding takes a dozen instructions and a branch: too much for a loop of multiply-adds.
Division to within 2 units in the last place takes half of the instructions. The divisor must be at
least 1 (or NaN): then no quotient overflows, and infinities, zeros and NaN give the same results as
with correct rounding. In other kernels a division waits for memory anyway, and stays as it is.

The pass runs before loops are split among threads: afterwards, it can no longer be proved that the
divisor of a softmax is at least 1.
"""

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

from tilewright.dialects import loop
from tilewright.dialects.fastmath import APPROXIMATE
from tilewright.dialects.monoid import Monoid
from tilewright.passes.loop.at_least_one import is_at_least_one
from tilewright.passes.reporting.trace import Rule, enclosing_symbol, rewriting, skipped

RULE = Rule("f", 17, "approximate_division")


def reason_against(op: arith.DivfOp) -> str | None:
    """Reason why the quotient has to be rounded correctly, or None."""
    if op.result.type != f32:
        return "only float32 has an approximate division"
    return None if is_at_least_one(op.rhs) else "the divisor may be less than 1"


def is_worth_it(op: arith.DivfOp) -> bool:
    """True if `op` is inside a reduction that sums products."""
    scope = op.parent_op()
    while scope is not None and not isinstance(scope, loop.KernelOp):
        if isinstance(scope, loop.ReduceOp) and any(map(_sums_products, scope.walk())):
            return True
        scope = scope.parent_op()
    return False


def _sums_products(op: Operation) -> bool:
    if not isinstance(op, loop.ReduceOp) or op.monoid.data is not Monoid.ADD:
        return False
    return any(isinstance(value.owner, arith.MulfOp) for value in op.yield_op.values)


class _ApproximateDivision(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.DivfOp, rewriter: PatternRewriter) -> None:
        kernel = enclosing_symbol(op)
        if kernel is None or not is_worth_it(op):
            return
        if (reason := reason_against(op)) is not None:
            skipped(RULE, kernel, reason)
            return
        with rewriting(RULE, kernel):
            op.properties["fastmath"] = APPROXIMATE
            rewriter.notify_op_modified(op)


class ApproximateDivisionPass(ModulePass):
    """Allow approximate division in loops that multiply and add."""

    name = "approximate-division"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite every division in the module that may be approximate."""
        PatternRewriteWalker(_ApproximateDivision(), apply_recursively=False).rewrite_module(op)
