# SPDX-License-Identifier: Apache-2.0
"""Two rewrite rules for products with zero: one is wrong for floats, the other has a condition."""

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilewright.dialects import prim
from tilewright.dialects.scalar_function import ScalarFunction
from tilewright.dialects.types import element_of


def is_zero(value: SSAValue) -> bool:
    """True if all elements of a value are the constant 0."""
    op = value.owner
    return isinstance(op, prim.ConstantOp) and op.value.value.data == 0


class ZeroTimes(RewritePattern):
    """Rewrite `x * 0` to `0`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.ElementwiseOp, rewriter: PatternRewriter) -> None:
        """Match the product."""
        if op.function.data is ScalarFunction.MUL and is_zero(op.inputs[1]):
            rewriter.replace(op, [], [op.inputs[1]])


class ZeroTimesInteger(ZeroTimes):
    """Rewrite `x * 0` to `0`, if x is an integer."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.ElementwiseOp, rewriter: PatternRewriter) -> None:
        """Match the product of integers."""
        if isinstance(element_of(op.result), IntegerType):
            super().match_and_rewrite(op, rewriter)
