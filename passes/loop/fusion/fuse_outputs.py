# SPDX-License-Identifier: Apache-2.0
"""
Computes an elementwise value with several uses in a kernel that reads it, which also writes it as
another output.

    loop.launch @add(%x, %r) -> (%y)
    loop.launch @norm(%y) -> (%out)
    func.return %y, %out

    loop.kernel @norm(%y) -> (%out) {
      loop.for %i in 32 {
        %s = loop.reduce %k in 512 with add { ... %y[%i, %k] ... }
        loop.for %j in 512 { ... %y[%i, %j] ... }

becomes

    loop.launch @norm_add(%x, %r) -> (%out, %y)
    func.return %y, %out

    loop.kernel @norm_add(%x, %r) -> (%out, %y) {
      loop.for %i in 32 {
        %s = loop.reduce %k in 512 with add { ... %x[%i, %k] + %r[%i, %k] ... }
        loop.for %j in 512 { ... %x[%i, %j] + %r[%i, %j], stored to %y[%i, %j] ... }

The value is written by the first reader that reads each element once. If there is none, it is
written by the first reader that works row by row, in a separate loop. Earlier readers compute the
value themselves; later readers load it. Fusion pays if it takes less time than separate kernels
(`fusion_cost`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import Block, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from tilewright.dialects import loop
from tilewright.dialects.axes import extent_of
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.target import Target
from tilewright.dialects.types import memref_type
from tilewright.passes.facts.nest import nest_block, reads_each_once, subscript_of
from tilewright.passes.loop.fusion.fusion_cost import MOST_OUTPUTS
from tilewright.passes.loop.fusion.fusion_decisions import accepted
from tilewright.passes.loop.fusion.inline_cost import inline_decision
from tilewright.passes.loop.fusion.inline_elementwise import inline_into
from tilewright.passes.loop.fusion.kernel_arguments import KernelArguments
from tilewright.passes.loop.fusion.kernel_room import reason_not_fitting
from tilewright.passes.loop.kernel_builder import AXIS_NAMES
from tilewright.passes.loop.launch_graph import (
    holds_one_value,
    is_returned,
    loads_of,
    readers,
    reason_against_fusion,
)
from tilewright.passes.loop.plan_index import PlanIndex
from tilewright.passes.reporting.trace import Rule, rewriting, skipped
from tilewright.passes.targeted_pass import TargetedPass

RULE = Rule("f", 11, "fuse_outputs")


class Keeper(NamedTuple):
    """A reader that can also write the buffer that it reads."""

    launch: loop.LaunchOp
    kernel: loop.KernelOp
    load: loop.LoadOp | None
    """Load that reads each element exactly once, if there is one."""
    rows: dict[int, SSAValue]
    """
    If `load` is None: for some dimensions of the buffer, the axis of the outermost nest that runs
    along the dimension. Otherwise empty.
    """


@dataclass
class FuseOutputs(RewritePattern):
    """Pattern that computes an elementwise value in a reader, which also writes it."""

    plan: PlanIndex
    target: Target

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: loop.LaunchOp, rewriter: PatternRewriter) -> None:
        """
        If that pays, compute the value of the kernel that `op` launches in its first readers, up to
        the first that can also write it. The kernel itself is erased.
        """
        buffer = op.outputs[0]
        if not holds_one_value(buffer) or not (consumers := readers(buffer)):
            return
        if (inlined := self.plan.flat_launch(op, reduces=False)) is None:
            return
        kernel = inlined.kernel
        if _is_update(kernel, op):
            skipped(RULE, kernel, "unfused, it updates its buffer in place")
            return
        keepers = [k for launch in consumers if (k := self._keeper(launch, buffer)) is not None]
        keeper = next((k for k in keepers if k.load is not None), next(iter(keepers), None))
        if keeper is None:
            skipped(RULE, kernel, "no reader loads each of its elements in steps of free axes")
            return
        position = consumers.index(keeper.launch) + 1
        if position == len(consumers) and not is_returned(buffer):
            return  # nothing needs the buffer afterwards
        computing = consumers[:position]
        reason = reason_against_fusion(op, computing, self.plan) or _reason_against(keeper)
        reason = reason or reason_not_fitting(op, computing, self.plan, self.target)
        if reason is not None:
            skipped(RULE, kernel, reason)
            return
        in_rows = keeper.load is None
        decision = inline_decision(
            self.plan, inlined, computing, self.target, keeper=keeper.launch, in_rows=in_rows
        )
        if not accepted(RULE, kernel, self.plan.kernels_of(computing), decision):
            return
        with rewriting(RULE, kernel, whole_module=True):
            writer = _write(rewriter, keeper, buffer)
            inline_into(rewriter, self.plan, inlined, [*computing[:-1], writer])

    def _keeper(self, launch: loop.LaunchOp, buffer: SSAValue) -> Keeper | None:
        kernel = self.plan.kernel_of(launch)
        if kernel is None:
            return None
        loads = loads_of(kernel, launch, buffer)
        if (load := next(filter(_reads_each_once, loads), None)) is not None:
            return Keeper(launch, kernel, load, {})
        if any(isinstance(op, loop.ScanOp) for op in ops_in(kernel)):
            return None
        block = nest_block(kernel)
        axes = () if block is kernel.body.block else block.args
        found = (rows for load in loads if (rows := _rows(load, axes)) is not None)
        rows = next(found, None)
        return None if rows is None else Keeper(launch, kernel, None, rows)


def _reads_each_once(load: loop.LoadOp) -> bool:
    """
    True if `load` has no mask and is in free loops only. Each step of these loops must read a
    different element, and together they must read all.
    """
    axes = set[SSAValue]()
    scope = load.parent_op()
    while isinstance(scope, loop.ForOp):
        axes.update(scope.body.block.args)
        scope = scope.parent_op()
    if not isinstance(scope, loop.KernelOp) or load.mask is not None:
        return False
    used = {*load.indices}
    return _of_several_steps(axes) <= used <= axes and reads_each_once(subscript_of(load), used)


def _of_several_steps(axes: Iterable[SSAValue]) -> set[SSAValue]:
    return {axis for axis in axes if extent_of(axis) != 1}


def _rows(load: loop.LoadOp, axes: Sequence[SSAValue]) -> dict[int, SSAValue] | None:
    """
    Return the axis along each dimension that one of `axes` subscripts alone. Return None unless
    each of `axes` runs along exactly one dimension, over all of it.
    """
    rows: dict[int, SSAValue] = {}
    for dim, expr in enumerate(load.map.data.results):
        if isinstance(expr, AffineDimExpr) and (axis := load.indices[expr.position]) in axes:
            rows[dim] = axis
    shape = memref_type(load.memref).get_shape()
    whole = all(extent_of(axis) == shape[dim] for dim, axis in rows.items())
    each_once = len(set(rows.values())) == len(rows)
    return rows if whole and each_once and _of_several_steps(axes) <= {*rows.values()} else None


def _is_update(kernel: loop.KernelOp, launch: loop.LaunchOp) -> bool:
    from tilewright.passes.loop.update_in_place import is_update

    return is_update(kernel, launch)


def _reason_against(keeper: Keeper) -> str | None:
    """Reason why the keeper cannot write another output, or None."""
    if len(keeper.launch.outputs) < MOST_OUTPUTS:
        return None
    name = keeper.kernel.sym_name.data
    return f"{name} would need more than {MOST_OUTPUTS} outputs"


def _write(rewriter: PatternRewriter, keeper: Keeper, buffer: SSAValue) -> loop.LaunchOp:
    """Make the keeper write to `buffer` the elements that it reads; return its new launch."""
    arguments = KernelArguments(keeper.kernel, keeper.launch)
    written, read = arguments.add_output(buffer), arguments.argument(buffer)
    if keeper.load is None:
        _write_rows(rewriter, keeper, read, written)
    else:
        where = (keeper.load.map.data.results, keeper.load.indices)
        store = loop.StoreOp(keeper.load.result, written, where)
        rewriter.insert(store, InsertPoint.after(keeper.load))
    return arguments.relaunch(rewriter)


def _write_rows(
    rewriter: PatternRewriter, keeper: Keeper, read: SSAValue, written: SSAValue
) -> None:
    """
    Append to the body of the keeper's outermost nest a copy of a row from the argument `read` to
    the argument `written`.
    """
    block, shape = nest_block(keeper.kernel), memref_type(read).get_shape()
    inside = [dim for dim in range(len(shape)) if dim not in keeper.rows]
    body = Block(arg_types=[IndexType()] * len(inside))
    for position, axis in enumerate(body.args):
        axis.name_hint = AXIS_NAMES[position % len(AXIS_NAMES)]
    axes = keeper.rows | dict(zip(inside, body.args, strict=True))
    where = ([AffineExpr.dimension(d) for d in range(len(shape))], [axes[d] for d in sorted(axes)])
    if inside:
        row = loop.ForOp([shape[dim] for dim in inside], Region(body))
        rewriter.insert(row, InsertPoint.at_end(block))
    load = loop.LoadOp(read, where)
    copy = [load, loop.StoreOp(load.result, written, where)]
    rewriter.insert(copy, InsertPoint.at_end(body if inside else block))


@dataclass(frozen=True)
class FuseOutputsPass(TargetedPass):
    """Compute elementwise values with several uses in a kernel that reads them."""

    name = "fuse-outputs"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Fuse until no value can be written by a reader at a lower cost."""
        plan = PlanIndex(op)
        plan.rewrite(FuseOutputs(plan, self.gpu))
