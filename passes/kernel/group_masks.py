# SPDX-License-Identifier: Apache-2.0
"""
Evaluates a mask once for all steps of a nest or loop if it holds for all of them or for none.

    kernel.unroll %v in 4 {
      %0 = loop.load %x[%t * 4 + %v] where [99 - %t * 4 - %v] : memref<100xf32>
      ...

becomes, because 100 is divisible by 4,

    kernel.unroll %v in 4 {
      %0 = loop.load %x[%t * 4 + %v] where [99 - %t * 4] : memref<100xf32>
      ...

One comparison serves four steps, and masks that differed only in `%v` become equal.
"""

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)

from tilewright.dialects import kernel, loop
from tilewright.dialects.axes import Access, range_of_value
from tilewright.dialects.faster_xdsl.walk import rewrite_each
from tilewright.dialects.kernel.registers import UnrollOp
from tilewright.passes.facts.vector_width import holds_for_all_or_none
from tilewright.passes.reporting.trace import Rule, rewriting, skipped

RULE = Rule("k", 12, "group_masks")


def steps(axis: SSAValue) -> int | None:
    """
    Return the number of steps of an axis that begins at 0; None if `axis` is no axis or its range
    is unknown.
    """
    if not isinstance(axis, BlockArgument):
        return None
    if not isinstance(axis.owner.parent_op(), UnrollOp | scf.ForOp):
        return None
    known = range_of_value(axis)
    return known.high + 1 if known is not None and known.low == 0 else None


def grouped(where: Access) -> Access | None:
    """
    Return the mask with 0 in place of each axis whose steps it does not distinguish, or None if
    there is no such axis.
    """
    exprs, operands = where
    found = [_grouped(expr, operands) for expr in exprs]
    return (found, operands) if found != [*exprs] else None


def _grouped(expr: AffineExpr, operands: Sequence[SSAValue]) -> AffineExpr:
    """Return `expr` at step 0 of each axis for which it holds at all steps or at none."""
    dims = [AffineExpr.dimension(position) for position in range(len(operands))]
    for position, operand in enumerate(operands):
        extent = steps(operand)
        if extent is not None and holds_for_all_or_none(expr, operands, operand, extent):
            dims[position] = AffineExpr.constant(0)
    return expr.replace_dims_and_symbols(dims, ())


class _GroupLoad(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: loop.LoadOp, rewriter: PatternRewriter) -> None:
        if op.mask is None or (where := _found(op, op.mask.data.results, op.mask_operands)) is None:
            return
        with rewriting(RULE, kernel.function_of(op)):
            load = loop.LoadOp(op.memref, (op.map.data.results, op.indices), where)
            load.result.name_hint = op.result.name_hint
            load.location = op.location
            rewriter.replace(op, load)


class _GroupStore(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: loop.StoreOp, rewriter: PatternRewriter) -> None:
        if op.mask is None or (where := _found(op, op.mask.data.results, op.mask_operands)) is None:
            return
        with rewriting(RULE, kernel.function_of(op)):
            store = loop.StoreOp(op.value, op.memref, (op.map.data.results, op.indices), where)
            store.location = op.location
            rewriter.replace(op, store)


class _GroupPredicate(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: loop.PredicateOp, rewriter: PatternRewriter) -> None:
        if (where := _found(op, op.map.data.results, op.indices)) is None:
            return
        with rewriting(RULE, kernel.function_of(op)):
            predicate = loop.PredicateOp(where)
            predicate.result.name_hint = op.result.name_hint
            predicate.location = op.location
            rewriter.replace(op, predicate)


def _found(
    op: Operation, exprs: Sequence[AffineExpr], operands: Sequence[SSAValue]
) -> Access | None:
    if (where := grouped((exprs, operands))) is not None:
        return where
    apart = [operand for operand in operands if steps(operand) is not None]
    if apart:
        name = apart[-1].name_hint or "an axis"
        skipped(RULE, kernel.function_of(op), f"the mask differs between steps of %{name}")
    return None


class GroupMasksPass(ModulePass):
    """Evaluate masks once for all steps of a nest or loop that they do not distinguish."""

    name = "group-masks"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Simplify the masks in every nest and loop of the module's kernels."""
        patterns: list[RewritePattern] = [_GroupLoad(), _GroupStore(), _GroupPredicate()]
        pattern = GreedyRewritePatternApplier(patterns, dce_enabled=False)
        for function in [f for f in op.ops if isinstance(f, kernel.FuncOp)]:
            rewrite_each(function, pattern, loop.LoadOp, loop.StoreOp, loop.PredicateOp)
