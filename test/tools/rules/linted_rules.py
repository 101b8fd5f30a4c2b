# SPDX-License-Identifier: Apache-2.0
"""Rules with what `lint-rules` finds: each class has its flaw in the docstring."""

from collections.abc import Callable
from typing import Any

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilewright.dialects import prim
from tilewright.dialects.scalar_function import ScalarFunction, ScalarFunctionAttr
from tilewright.dialects.types import element_of

_F = ScalarFunction


def made(function: ScalarFunction, op: prim.ElementwiseOp) -> prim.ElementwiseOp:
    """Return another function of the operands of an op."""
    return prim.ElementwiseOp(function, [*op.inputs], element_of(op.result))


class DropDoubleNegation(RewritePattern):
    """Rewrite `-(-x)` to `x`, which has no flaw."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.ElementwiseOp, rewriter: PatternRewriter) -> None:
        """Match the outer negation."""
        inner = prim.elementwise_op(op.inputs[0], _F.NEG)
        if op.function.data is _F.NEG and inner is not None:
            rewriter.replace(op, [], [inner.inputs[0]])


class DropTripleNegation(RewritePattern):
    """Rewrite `-(-(-x))` to `-x`; the rule for two negations matches there before it."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.ElementwiseOp, rewriter: PatternRewriter) -> None:
        """Match the outermost negation."""
        inner = prim.elementwise_op(op.inputs[0], _F.NEG)
        if op.function.data is not _F.NEG or inner is None:
            return
        if (innermost := prim.elementwise_op(inner.inputs[0], _F.NEG)) is not None:
            rewriter.replace(op, [], [innermost.result])


class NeverFires(RewritePattern):
    """Match a negation of two operands, which there is none of."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.ElementwiseOp, rewriter: PatternRewriter) -> None:
        """Match by the number of operands."""
        if op.function.data is _F.NEG and len(op.inputs) == 2:
            rewriter.replace(op, [], [op.inputs[0]])


class _Replace(RewritePattern):
    def __init__(
        self, old: ScalarFunction, new: Callable[[prim.ElementwiseOp], prim.ElementwiseOp]
    ):
        self.old, self.new = old, new

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.ElementwiseOp, rewriter: PatternRewriter) -> None:
        if op.function.data is self.old:
            rewriter.replace(op, self.new(op))


def swapped(op: prim.ElementwiseOp) -> prim.ElementwiseOp:
    """Return an op with its operands swapped, which matches again: a cycle."""
    return prim.ElementwiseOp(op.function.data, [*reversed(op.inputs)], element_of(op.result))


swap = _Replace(_F.ADD, swapped)
exp_to_sqrt = _Replace(_F.EXP, lambda op: made(_F.SQRT, op))
exp_to_log = _Replace(_F.EXP, lambda op: made(_F.LOG, op))


class Grow(RewritePattern):
    """Rewrite `|x|` to `|(|x|)|`, without end."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.ElementwiseOp, rewriter: PatternRewriter) -> None:
        """Match the outer op."""
        if op.function.data is _F.ABS:
            inner = made(_F.ABS, op)
            outer = prim.ElementwiseOp(_F.ABS, [inner.result], element_of(op.result))
            rewriter.replace(op, [inner, outer])


class InPlace(RewritePattern):
    """Change a subtraction without its rewriter."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.ElementwiseOp, rewriter: PatternRewriter) -> None:
        """Match the subtraction."""
        if op.function.data is ScalarFunction.SUB:
            op.function = ScalarFunctionAttr(ScalarFunction.ADD)


class InvalidFunction(RewritePattern):
    """Make an op whose function is an attribute of an attribute."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.ElementwiseOp, rewriter: PatternRewriter) -> None:
        """Match the subtraction."""
        if op.function.data is ScalarFunction.SUB:
            function: Any = op.function
            rewriter.replace(op, prim.ElementwiseOp(function, op.inputs, element_of(op.result)))


class RaisesForNegations(RewritePattern):
    """Fail at each negation."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.ElementwiseOp, rewriter: PatternRewriter) -> None:
        """Match the negation."""
        if op.function.data is ScalarFunction.NEG:
            raise KeyError("boom")
