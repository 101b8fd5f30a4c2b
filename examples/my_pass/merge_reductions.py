# SPDX-License-Identifier: Apache-2.0
"""
Merge a reduction of a reduction into one, which saves the tensor between them.

    %r = prim.reduce max(%x) dims [2] : (tensor<8x16x32xf32>) -> tensor<8x16xf32>
    %s = prim.reduce max(%r) dims [1] : (tensor<8x16xf32>) -> tensor<8xf32>

becomes

    %s = prim.reduce max(%x) dims [1, 2] : (tensor<8x16x32xf32>) -> tensor<8xf32>
"""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

from tilewright.dialects import prim
from tilewright.dialects.types import tensor_type
from tilewright.passes.reporting.trace import Rule, TracedPattern, skipped

RULE = Rule("o", 900, "merge_reductions")


def reason_against(outer: prim.ReduceOp, inner: prim.ReduceOp) -> str | None:
    """Reason why the two reductions cannot or should not be merged, or None."""
    if outer.monoid != inner.monoid:
        return f"'{outer.monoid.data}' of '{inner.monoid.data}' is not one reduction"
    if not all(result.has_one_use() for result in inner.results):
        return "the inner result has other uses, and would be computed twice"
    return None


def merged_dims(outer: prim.ReduceOp, inner: prim.ReduceOp) -> tuple[int, ...]:
    """Return the dims of both reductions, counted in the shape of the inner reduction's operand."""
    rank, folded = tensor_type(inner.inputs[0]).get_num_dims(), inner.dims.get_values()
    kept = [dim for dim in range(rank) if dim not in folded]
    return tuple(sorted([*folded, *(kept[dim] for dim in outer.dims.get_values())]))


class MergeReductions(RewritePattern):
    """Rewrite of two nested reductions to one reduction over all their dims."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.ReduceOp, rewriter: PatternRewriter) -> None:
        """Match the outer reduction."""
        inner = op.inputs[0].owner
        if not isinstance(inner, prim.ReduceOp) or tuple(op.inputs) != inner.results:
            return
        if (reason := reason_against(op, inner)) is not None:
            skipped(RULE, op, reason)
            return
        rewriter.replace(op, prim.ReduceOp(op.monoid, [*inner.inputs], merged_dims(op, inner)))
        rewriter.erase(inner)


class MergeReductionsPass(ModulePass):
    """Pass that merges reductions of reductions."""

    name = "merge-reductions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Apply the pattern everywhere in the module."""
        PatternRewriteWalker(TracedPattern(RULE, MergeReductions())).rewrite_module(op)
