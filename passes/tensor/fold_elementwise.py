# SPDX-License-Identifier: Apache-2.0
"""
Folds elementwise functions whose result is a constant or one of the operands.
`dialects/prim/identities.py` lists the identities that are dropped.

    %one = prim.constant 1.000000e+00 : f32 -> tensor<4xf32>
    %a = prim.elementwise mul(%x, %one) : tensor<4xf32>
    %b = prim.elementwise neg(%a) : tensor<4xf32>
    %c = prim.elementwise neg(%b) : tensor<4xf32>

is %x. All of these, except casts of casts, are folds of the op itself.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

from tilewright.dialects import prim
from tilewright.dialects.prim.identities import HOLDS_EXACTLY
from tilewright.dialects.scalar_function import ScalarFunction
from tilewright.dialects.types import element_of, tensor_type
from tilewright.passes.reporting.trace import Rule, TracedPattern


@dataclass(frozen=True)
class Fold(RewritePattern):
    """Pattern that replaces a function by the operand or the constant that `fold` returns."""

    fold: Callable[[prim.ElementwiseOp], SSAValue | FloatAttr | IntegerAttr | None]

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.ElementwiseOp, rewriter: PatternRewriter) -> None:
        """Replace the function if its fold gives a result."""
        known = self.fold(op)
        if isinstance(known, SSAValue):
            rewriter.replace(op, [], [known])
        elif known is not None:
            rewriter.replace(op, prim.ConstantOp(known, tensor_type(op.result)))


class FoldCasts(RewritePattern):
    """
    Pattern that drops a cast to a type that holds all values of the source, if another cast
    follows. Both are dropped if the second cast restores the source's type.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.ElementwiseOp, rewriter: PatternRewriter) -> None:
        """Fold the outer cast."""
        if op.function.data is not ScalarFunction.CAST:
            return
        if (value := op.uncast_operand()) is not None:
            rewriter.replace(op, [], [value])
            return
        value = op.inputs[0]
        if (inner := prim.elementwise_op(value, ScalarFunction.CAST)) is None:
            return
        source = inner.inputs[0]
        if str(element_of(value)) not in HOLDS_EXACTLY.get(str(element_of(source)), ()):
            return
        target = element_of(op.result)
        rewriter.replace(op, prim.ElementwiseOp(ScalarFunction.CAST, [source], target))


class FoldElementwisePass(ModulePass):
    """Fold elementwise functions whose result is a constant or an operand."""

    name = "fold-elementwise"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Apply the folds until none applies."""
        patterns: Mapping[str, RewritePattern] = {
            "drop_neutral": Fold(prim.ElementwiseOp.equal_operand),
            "fold_select": Fold(prim.ElementwiseOp.selected_operand),
            "fold_casts": FoldCasts(),
            "fold_constants": Fold(prim.ElementwiseOp.constant_result),
        }
        traced = [
            TracedPattern(Rule("o", number, name), pattern)
            for number, (name, pattern) in enumerate(patterns.items(), start=5)
        ]
        PatternRewriteWalker(GreedyRewritePatternApplier([*traced])).rewrite_module(op)
