# SPDX-License-Identifier: Apache-2.0
"""
Keeps in shared memory what a block would compute again for every column of its row.

    %m = tile.combine ... with max
    loop.for %e in 2 {
      %o = loop.reduce %k in 128 with add {
        %0 = loop.load %s[%row, %k] ...
        %1 = math.exp (%0 - %m)
        %2 = loop.load %v[%k, %e * 32 + %t] ...
        loop.yield %1 * %2
      }
      ...

becomes

    %p = tile.stage (%k) in [128] { ... loop.yield %1 : f32 } : memref<128xf32, 3 : i64>
    loop.for %e in 2 {
      %o = loop.reduce %k in 128 with add {
        %1 = loop.load %p[%k] ...
        %2 = loop.load %v[%k, %e * 32 + %t] ...
        loop.yield %1 * %2

Legal when the value is the same for all threads of the block, which does one row. It pays when it
is more than a load, and fits.
"""

from xdsl.context import Context
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.rewriter import InsertPoint

from tilewright.dialects import loop, tile
from tilewright.dialects.tile import varies_along
from tilewright.dialects.tile_axes import Level
from tilewright.dialects.types import size_of
from tilewright.passes.footprint import bytes_of
from tilewright.passes.instruction_costs import instructions
from tilewright.passes.loop.fuse_rows import MOST_ROW_BYTES
from tilewright.passes.substitution import Substitution
from tilewright.passes.trace import Rule, enclosing_symbol, rewriting, skipped

RULE = Rule("t", 17, "stage_rows")


class StageRows(RewritePattern):
    """Stage what the reduction of each column computes of the row alone."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: loop.ForOp, rewriter: PatternRewriter) -> None:
        """Match a loop over columns, which is done by the threads of a block."""
        kernel, launch = enclosing_symbol(op), op.parent_op()
        if kernel is None or not isinstance(launch, tile.LaunchOp) or not launch.thread_axes():
            return
        for reduction in [i for i in op.body.block.ops if isinstance(i, loop.ReduceOp)]:
            for value in _of_the_row(reduction):
                if (reason := _not_worth(value, reduction, op)) is not None:
                    skipped(RULE, kernel, reason)
                    continue
                with rewriting(RULE, kernel):
                    _stage(rewriter, value, reduction, op)


def _of_the_row(reduction: loop.ReduceOp) -> list[SSAValue]:
    """
    Values of a step that are the same for all columns and threads, and more than a load: those
    that ops which do vary, or the yield, use.
    """
    steps = [op for op in reduction.body.block.ops if op is not reduction.yield_op]
    same = set[Operation]()
    for op in steps:
        if not op.regions and all(
            v.owner in same or _is_of_the_row(v, reduction) for v in op.operands
        ):
            same.add(op)
    varying = [op for op in (*steps, reduction.yield_op) if op not in same]
    used = dict.fromkeys(v for op in varying for v in op.operands if v.owner in same)
    return [value for value in used if _is_computed(value, reduction)]


def _is_of_the_row(value: SSAValue, reduction: loop.ReduceOp) -> bool:
    """Whether a value from outside of the steps is one value for all columns and threads."""
    owner = value.owner
    if isinstance(owner, Operation):
        launch = reduction.parent_op()
        is_in_columns = launch is not None and launch.is_ancestor(owner)
        return not is_in_columns and not any(map(_is_thread_axis, varies_along(owner, {})))
    if value is reduction.axis or isinstance(value.type, MemRefType):
        return True
    return tile.launch_of(value) is not None and not _is_thread_axis(value)


def _is_thread_axis(axis: SSAValue) -> bool:
    launch = tile.launch_of(axis)
    axes = [] if launch is None else launch.bound_axes()
    return any(bound.value is axis and bound.level is not Level.BLOCK for bound in axes)


def _slice(value: SSAValue, reduction: loop.ReduceOp) -> list[Operation]:
    """The ops of a step that compute `value`, in order."""
    needed = {value}
    found: list[Operation] = []
    for op in reversed([*reduction.body.block.ops]):
        if not needed.isdisjoint(op.results):
            needed.update(op.operands)
            found.append(op)
    return found[::-1]


def _is_computed(value: SSAValue, reduction: loop.ReduceOp) -> bool:
    """Whether it differs from step to step, and takes more than a load."""
    computed = _slice(value, reduction)
    differs = any(reduction.axis in op.operands for op in computed)
    return differs and sum(map(instructions, computed)) > 1


def _not_worth(value: SSAValue, reduction: loop.ReduceOp, columns: loop.ForOp) -> str | None:
    """Why the row is computed again."""
    launch = columns.parent_op()
    assert launch is not None
    staged = sum(bytes_of(op.slab) for op in launch.walk() if isinstance(op, tile.StageOp))
    row = reduction.axis_extents()[0] * size_of(value.type)
    if staged + row > MOST_ROW_BYTES:
        return f"a row of {row} bytes does not fit beside those of other blocks"
    return None


def _stage(
    rewriter: PatternRewriter, value: SSAValue, reduction: loop.ReduceOp, columns: loop.ForOp
) -> None:
    body = Block(arg_types=[reduction.axis.type])
    body.args[0].name_hint = reduction.axis.name_hint
    substitution = Substitution({reduction.axis: body.args[0]})
    computed = _slice(value, reduction)
    body.add_ops(substitution.clone(op) for op in computed)
    body.add_op(loop.YieldOp([substitution.value(value)]))
    stage = tile.StageOp(reduction.axis_extents(), Region(body))
    stage.location = reduction.location
    stage.slab.name_hint = "row"
    rewriter.insert(stage, InsertPoint.before(columns))
    load = loop.LoadOp(stage.slab, ([AffineExpr.dimension(0)], [reduction.axis]))
    load.location = computed[-1].location
    load.result.name_hint = value.name_hint
    rewriter.insert(load, InsertPoint.at_start(reduction.body.block))
    value.replace_all_uses_with(load.result)
    for op in reversed(computed):
        if not any(result.uses for result in op.results):
            rewriter.erase(op)


class StageRowsPass(ModulePass):
    """Stage what every column of a row needs."""

    name = "stage-rows"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Each loop over the columns of a block's row."""
        PatternRewriteWalker(StageRows()).rewrite_module(op)
