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
reader's outermost nest; when the reader does not reduce along the axes that move inside, which
would take the tiles of a matrix product apart; when it is no scan, whose steps threads cannot
share. It pays when one kernel takes less time than two (`fusion_cost`): few rows keep few SMs busy.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.rewriter import InsertPoint

from tilewright.dialects import loop
from tilewright.dialects.axes import extent_of
from tilewright.dialects.target import DEFAULT_TARGET, Target
from tilewright.dialects.target import target as target_named
from tilewright.dialects.types import memref_type
from tilewright.passes.loop.fusion_cost import Decision, decide, fused, work_of
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
    is_temporary,
    loads_of,
    obstacle,
    readers,
)
from tilewright.passes.loop.plan_index import PlanIndex
from tilewright.passes.substitution import Substitution
from tilewright.passes.trace import Rule, decided, rewriting, skipped

RULE = Rule("f", 3, "fuse_reduction")


@dataclass
class FuseReduction(RewritePattern):
    """Move a reducing producer into its only reader."""

    plan: PlanIndex
    target: Target

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: loop.LaunchOp, rewriter: PatternRewriter) -> None:
        """Match the producer's launch."""
        producer = self.plan.kernel_of(op)
        if producer is None or (rows := flat_nest(producer)) is None or not rows.reduces:
            return
        buffer = op.outputs[0]
        if not is_temporary(buffer) or len(consumers := readers(buffer)) != 1:
            return
        if (consumer := self.plan.kernel_of(consumers[0])) is None:
            return
        loads = loads_of(consumer, consumers[0], buffer)
        subscript = common_subscript(loads)
        if subscript is None:
            skipped(RULE, producer, f"{consumer.sym_name.data} reads it in more than one way")
            return
        if (
            reason := obstacle(op, consumers, self.plan) or _illegal(consumer, subscript)
        ) is not None:
            skipped(RULE, producer, reason)
            return
        decision = _decision(op, producer, consumers[0], consumer, subscript, self.target)
        if not decision.pays:
            skipped(RULE, producer, decision.reason)
            return
        decided(RULE, producer, decision.reason)
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
    block = row_block(rewriter, consumer, loads[0].indices)
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


def _illegal(consumer: loop.KernelOp, subscript: Subscript) -> str | None:
    """Why the reduction cannot be part of its reader."""
    block = nest_block(consumer)
    outer = () if block is consumer.body.block else block.args
    reader = consumer.sym_name.data
    if any(isinstance(op, loop.ScanOp) for op in consumer.walk()):
        return f"{reader} goes along its rows step by step: threads could not share the reduction"
    if not set(subscript.indices) <= set(outer):
        return f"{reader} reads it along axes that are not its outermost free axes"
    inside = [axis for axis in outer if axis not in subscript.indices]
    if inside and any(isinstance(op, loop.ReduceOp | loop.ForOp) for op in block.ops):
        return f"{reader} reduces along the axes that would move inside"
    return None


def _decision(
    launch: loop.LaunchOp,
    producer: loop.KernelOp,
    consumer_launch: loop.LaunchOp,
    consumer: loop.KernelOp,
    subscript: Subscript,
    target: Target,
) -> Decision:
    """Whether the reader should reduce each row itself, at every step of the row's axes."""
    reduction, reader = work_of(producer, launch), work_of(consumer, consumer_launch)
    rows = max(prod(memref_type(launch.outputs[0]).get_shape()), 1)
    steps = prod(extent_of(axis) or 1 for axis in subscript.indices)
    buffer = launch.outputs[0]
    together = fused(reduction, reader, buffer, times=steps / rows, steps=steps)
    often = f"{steps / rows:.1f}".removesuffix(".0")
    what = f"reduce each of {rows} row{'s' * (rows > 1)} {often}x"
    return decide(what, [reduction, reader], [together], target)


def row_block(
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


@dataclass(frozen=True)
class FuseReductionPass(ModulePass):
    """Reduce rows in the kernels that read the results once a row."""

    name = "fuse-reduction"

    target: str = DEFAULT_TARGET
    """The GPU whose times are compared."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Until no reader is left that can."""
        plan = PlanIndex(op)
        plan.rewrite(FuseReduction(plan, target_named(self.target)))
