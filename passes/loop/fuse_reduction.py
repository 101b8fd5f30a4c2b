# SPDX-License-Identifier: Apache-2.0
"""
Computes a row's reduction in the kernel that reads it once a row, so that one kernel sees the row.

    loop.kernel @sum(%x) -> (%out) {
      loop.for %i in 32 {
        %s = loop.reduce %k in 2048 with add { ... }
        loop.store %s, %out[%i] ...
      }
    }
    loop.kernel @div(%x, %sum) -> (%out) {
      loop.for %i in 32, %j in 2048 {
        %0 = loop.load %x[%i, %j] ...   %1 = loop.load %sum[%i] ...
        ...

becomes

    loop.for %i in 32 {
      %s = loop.reduce %k in 2048 with add { ... }
      loop.for %j in 2048 {
        %0 = loop.load %x[%i, %j] ...
        ...

Legal when all loads of the result agree on where they read, and its free axes are free axes of the
reader's outermost nest. It pays when nothing is reduced twice, a block can do a row, and the reader
does not reduce along the axes that move inside.
"""

from collections.abc import Sequence
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.rewriter import InsertPoint

from tilewright.dialects import loop
from tilewright.dialects.axes import extent_of
from tilewright.passes.loop.naming import joined_name
from tilewright.passes.loop.nest import (
    FlatNest,
    Subscript,
    common_subscript,
    flat_nest,
    nest_block,
)
from tilewright.passes.loop.plan import (
    KernelArguments,
    erase_kernel,
    evaluations,
    is_temporary,
    kernel_of,
    loads_of,
    obstacle,
    readers,
)
from tilewright.passes.substitution import Substitution
from tilewright.passes.trace import Rule, rewriting, skipped

RULE = Rule("f", 3, "fuse_reduction")

# A block walks a row of this many elements in some ten microseconds; longer ones want more blocks.
_LONGEST_ROW = 1 << 17


class FuseReduction(RewritePattern):
    """Move a reducing producer into its only reader."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: loop.LaunchOp, rewriter: PatternRewriter) -> None:
        """Match the producer's launch."""
        producer = kernel_of(op)
        if producer is None or (rows := flat_nest(producer)) is None or not rows.reduces:
            return
        buffer = op.outputs[0]
        if not is_temporary(buffer) or len(consumers := readers(buffer)) != 1:
            return
        if (consumer := kernel_of(consumers[0])) is None:
            return
        loads = loads_of(consumer, consumers[0], buffer)
        subscript = common_subscript(loads)
        if subscript is None:
            skipped(RULE, producer, f"{consumer.sym_name.data} reads it in more than one way")
            return
        reason = obstacle(op, consumers)
        reason = reason or _not_worth(consumer, subscript, evaluations(rows.store))
        if reason is not None:
            skipped(RULE, producer, reason)
            return
        with rewriting(RULE, producer, whole_module=True):
            _fuse(rewriter, op, producer, rows, consumers[0], consumer, loads)


def _fuse(
    rewriter: PatternRewriter,
    launch: loop.LaunchOp,
    producer: loop.KernelOp,
    rows: FlatNest,
    consumer_launch: loop.LaunchOp,
    consumer: loop.KernelOp,
    loads: Sequence[loop.LoadOp],
) -> None:
    buffer = launch.outputs[0]
    block = _row_block(rewriter, consumer, loads[0].indices)
    arguments = KernelArguments(consumer, consumer_launch)
    axes = rows.axes_at(loads[0].map.data.results, loads[0].indices)
    substitution = Substitution(dict(arguments.arguments_like(producer, launch)), axes)
    clones = [substitution.clone(inner) for inner in rows.body]
    rewriter.insert(clones, InsertPoint.at_start(block))
    for load in loads:
        rewriter.replace(load, [], [substitution.value(rows.store.value)])
    arguments.relaunch(rewriter, joined_name(consumer, [producer]))
    rewriter.erase(launch)
    erase_kernel(rewriter, producer, buffer)


def _not_worth(consumer: loop.KernelOp, subscript: Subscript, rows: int) -> str | None:
    """Why the reduction stays a kernel of its own."""
    block = nest_block(consumer)
    outer = () if block is consumer.body.block else block.args
    reader = consumer.sym_name.data
    if any(isinstance(op, loop.ScanOp) for op in consumer.walk()):
        return f"{reader} goes along its rows step by step: threads could not share the reduction"
    if not set(subscript.indices) <= set(outer):
        return f"{reader} reads it along axes that are not its outermost free axes"
    if (times := prod(extent_of(axis) or 1 for axis in subscript.indices)) > rows:
        return f"{reader} would reduce {times // rows} times as often"
    inside = [axis for axis in outer if axis not in subscript.indices]
    if not inside:
        return None
    if any(isinstance(op, loop.ReduceOp | loop.ForOp) for op in block.ops):
        return f"{reader} reduces along the axes that would move inside"
    if (row := prod(extent_of(axis) or 1 for axis in inside)) > _LONGEST_ROW:
        return f"a row of {row} elements is too long for one block"
    return None


def _row_block(
    rewriter: PatternRewriter, consumer: loop.KernelOp, axes: Sequence[SSAValue]
) -> Block:
    """The body of a nest over just `axes`; the other axes of the outermost nest move inside it."""
    block = nest_block(consumer)
    if block is consumer.body.block or set(axes) == set(block.args):
        return block
    nest = block.parent_op()
    assert isinstance(nest, loop.ForOp)
    inside = [axis for axis in block.args if axis not in axes]
    values: dict[SSAValue, SSAValue] = {}
    inner = _nest_over(inside, nest, values)
    if not axes:
        _move_body(nest, inner, values)
        rewriter.replace(nest, inner, [])
        return consumer.body.block
    outer = _nest_over([axis for axis in block.args if axis in axes], nest, values)
    _move_body(nest, inner, values)
    outer.body.block.add_op(inner)
    rewriter.replace(nest, outer, [])
    return outer.body.block


def _nest_over(
    axes: Sequence[SSAValue], nest: loop.ForOp, values: dict[SSAValue, SSAValue]
) -> loop.ForOp:
    """An empty nest over some of the axes of `nest`; `values` takes the old axes to the new."""
    all_axes: list[SSAValue] = list(nest.body.block.args)
    positions = [all_axes.index(axis) for axis in axes]
    body = Block(arg_types=[axis.type for axis in axes])
    for old, new in zip(axes, body.args, strict=True):
        new.name_hint = old.name_hint
        values[old] = new
    extents, roles = nest.axis_extents(), nest.axis_roles()
    return loop.ForOp([extents[p] for p in positions], Region(body), [roles[p] for p in positions])


def _move_body(nest: loop.ForOp, inner: loop.ForOp, values: dict[SSAValue, SSAValue]) -> None:
    for old, new in values.items():
        old.replace_all_uses_with(new)
    ops: list[Operation] = list(nest.body.block.ops)
    for op in ops:
        op.detach()
    inner.body.block.add_ops(ops)


class FuseReductionPass(ModulePass):
    """Reduce rows in the kernels that read the results once a row."""

    name = "fuse-reduction"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Until no reader is left that can."""
        PatternRewriteWalker(FuseReduction()).rewrite_module(op)
