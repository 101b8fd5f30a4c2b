# SPDX-License-Identifier: Apache-2.0
"""
Computes the reduction of a row in the kernel that reads its result once per row.

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

Fusion is legal if all loads of the result have one subscript. The axes of the result must be free
axes of the reader's outermost nest. The reader must not reduce along the axes that move inside,
which would break the tiles of a matrix product. The reader must not contain a scan, whose steps
threads cannot share. Fusion pays if one kernel takes less time than two (`fusion_cost`): few rows
keep few SMs busy.

With `keep`, the first reader also stores a result that has other readers or that the function
returns.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.pattern_rewriter import (
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.rewriter import InsertPoint

from tilewright.dialects import loop
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.target import Target
from tilewright.passes.facts.nest import (
    Subscript,
    common_subscript,
    nest_block,
    reads_each_once,
    steps_of,
)
from tilewright.passes.loop.fusion.fusion_cost import (
    MOST_OUTPUTS,
    Decision,
    decide,
    fused,
    often,
    work_of,
)
from tilewright.passes.loop.fusion.fusion_decisions import accepted
from tilewright.passes.loop.fusion.kernel_arguments import KernelArguments
from tilewright.passes.loop.fusion.kernel_room import reason_not_fitting
from tilewright.passes.loop.fusion.row_block import row_block
from tilewright.passes.loop.launch_graph import (
    erase_kernel,
    holds_one_value,
    is_returned,
    loads_of,
    readers,
    reason_against_fusion,
)
from tilewright.passes.loop.name_kernels import join_names
from tilewright.passes.loop.plan_index import FlatLaunch, PlanIndex
from tilewright.passes.reporting.trace import Rule, rewriting, skipped
from tilewright.passes.rewriting.substitution import Substitution
from tilewright.passes.targeted_pass import TargetedPass

RULE = Rule("f", 3, "fuse_reduction")


class Reader(NamedTuple):
    """The first launch that reads the result of a reduction."""

    launch: loop.LaunchOp
    kernel: loop.KernelOp
    loads: Sequence[loop.LoadOp]
    subscript: Subscript
    """Subscript that all of `loads` have."""
    kept: bool
    """True if the reader must also store the result, because others read or return it."""


@dataclass
class FuseReduction(RewritePattern):
    """Pattern that moves a reduction into the first reader of its result."""

    plan: PlanIndex
    target: Target
    keep: bool

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: loop.LaunchOp, rewriter: PatternRewriter) -> None:
        """
        Move the reduction that `op` launches into its first reader, if that is legal and pays.
        """
        buffer = op.outputs[0]
        if not holds_one_value(buffer) or not (consumers := readers(buffer)):
            return
        if (reduction := self.plan.flat_launch(op, reduces=True)) is None:
            return
        producer = reduction.kernel
        kept = len(consumers) > 1 or is_returned(buffer)
        kernel = self.plan.kernel_of(consumers[0])
        if kernel is None or (kept and not self.keep):
            return
        loads = loads_of(kernel, consumers[0], buffer)
        if (subscript := common_subscript(loads)) is None:
            skipped(RULE, producer, f"{kernel.sym_name.data} reads it in more than one way")
            return
        reader = Reader(consumers[0], kernel, loads, subscript, kept)
        reason = reason_against_fusion(op, consumers[:1], self.plan) or _reason_against(reader)
        reason = reason or reason_not_fitting(op, consumers[:1], self.plan, self.target)
        if reason is not None:
            skipped(RULE, producer, reason)
            return
        if not accepted(RULE, producer, [kernel], _decision(reduction, reader, self.target)):
            return
        with rewriting(RULE, producer, whole_module=True):
            _fuse(rewriter, self.plan, reduction, reader)


def _fuse(
    rewriter: PatternRewriter, plan: PlanIndex, reduction: FlatLaunch, reader: Reader
) -> None:
    (launch, producer, rows), buffer, at = reduction, reduction.buffer, reader.loads[0]
    block = row_block(rewriter, reader.kernel, at.indices)
    arguments = KernelArguments(reader.kernel, reader.launch)
    where = (at.map.data.results, at.indices)
    axes = rows.axes_at(*where)
    substitution = Substitution(dict(arguments.arguments_like(producer, launch)), axes)
    clones = [substitution.clone(inner) for inner in rows.body]
    value = substitution.value(rows.store.value)
    if reader.kept:
        clones.append(loop.StoreOp(value, arguments.add_output(buffer), where))
    rewriter.insert(clones, InsertPoint.at_start(block))
    for load in reader.loads:
        rewriter.replace(load, [], [value])
    join_names(plan, reader.kernel, [reader.kernel, producer])
    arguments.relaunch(rewriter)
    rewriter.erase(launch)
    erase_kernel(rewriter, producer, buffer)


def _reason_against(reader: Reader) -> str | None:
    """Reason why the reduction cannot be part of its reader, or None."""
    name, subscript, block = (
        reader.kernel.sym_name.data,
        reader.subscript,
        nest_block(reader.kernel),
    )
    outer = () if block is reader.kernel.body.block else block.args
    if any(isinstance(op, loop.ScanOp) for op in ops_in(reader.kernel)):
        return f"{name} is a scan: threads cannot share the reduction"
    if not set(subscript.indices) <= set(outer):
        return f"{name} reads it along axes that are not its outermost free axes"
    inside = [axis for axis in outer if axis not in subscript.indices]
    if inside and any(isinstance(op, loop.ReduceOp | loop.ForOp) for op in block.ops):
        return f"{name} reduces along the axes that would move inside"
    if reader.kept and not reads_each_once(subscript, subscript.indices):
        return f"others need it too, but {name} does not read each element once"
    if reader.kept and len(reader.launch.outputs) >= MOST_OUTPUTS:
        return f"{name} would need more than {MOST_OUTPUTS} outputs"
    return None


def _decision(reduction: FlatLaunch, reader: Reader, target: Target) -> Decision:
    """
    Return the decision whether the reader reduces each row itself, in every step of the row's axes.
    """
    reducing = work_of(reduction.kernel, reduction.launch)
    reading = work_of(reader.kernel, reader.launch)
    rows = max(prod(reader.subscript.shape), 1)
    steps = steps_of(reader.subscript.indices)
    together = fused(
        reducing, reading, reduction.buffer, times=steps / rows, steps=steps, kept=reader.kept
    )
    what = f"reduce each of {rows} row{'s' * (rows > 1)} {often(steps / rows)}"
    return decide(what, [reducing, reading], [together], target)


@dataclass(frozen=True)
class FuseReductionPass(TargetedPass):
    """Reduce rows in the kernels that read the results once per row."""

    name = "fuse-reduction"

    keep: bool = False
    """
    True to fuse even if the result of the reduction has other uses; the reader then writes it too.
    """

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Fuse until no reduction can move into its first reader."""
        plan = PlanIndex(op)
        plan.rewrite(FuseReduction(plan, self.gpu, self.keep))
