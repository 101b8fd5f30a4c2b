# SPDX-License-Identifier: Apache-2.0
"""
Moves a reduction into the elementwise kernel that joins several parts of its result, as a gated
unit joins the halves of one product.

    loop.kernel @linear(%x, %w) -> (%out) {
      loop.for %i in 16, %j in 128 {
        %s = loop.reduce %k in 64 with add { ... %x[%i, %k] * %w[%j, %k] }
        loop.store %s, %out[%i, %j] ...
      }
    }
    loop.kernel @mul(%linear) -> (%out) {
      loop.for %i in 16, %j in 64 {
        %0 = loop.load %linear[%i, %j] ...   %1 = loop.load %linear[%i, %j + 64] ...
        %2 = arith.mulf %0, %1 : f32
        ...

becomes

    loop.for %i in 16, %j in 64 {
      %s = loop.reduce %k in 64 with add { ... %x[%i, %k] * %w[%j, %k] }
      %s_1 = loop.reduce %k in 64 with add { ... %x[%i, %k] * %w[%j + 64, %k] }
      %2 = arith.mulf %s, %s_1 : f32
      ...

The pass `merge-loops` then makes one reduction of them, which reads `%x` once. Fusion is legal if
the result has one reader, which is elementwise, and if it computes no element more often than
before. One reduction must be able to join all parts (`MOST_ACCUMULATORS`). Fusion pays if one
kernel takes less time than two (`fusion_cost`). A reader with a single subscript is left to
`fuse-reduction`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from tilewright.dialects import loop
from tilewright.dialects.target import Target
from tilewright.dialects.types import memref_type
from tilewright.passes.facts.nest import Subscript, steps_of, subscript_of
from tilewright.passes.loop.fusion.fusion_cost import (
    MOST_ACCUMULATORS,
    Decision,
    decide,
    fused,
    work_of,
)
from tilewright.passes.loop.fusion.fusion_decisions import accepted
from tilewright.passes.loop.fusion.kernel_arguments import KernelArguments
from tilewright.passes.loop.fusion.kernel_room import reason_not_fitting
from tilewright.passes.loop.launch_graph import (
    erase_kernel,
    is_temporary,
    loads_of,
    readers,
    reason_against_fusion,
)
from tilewright.passes.loop.name_kernels import join_names
from tilewright.passes.loop.plan_index import FlatLaunch, PlanIndex
from tilewright.passes.reporting.trace import Rule, rewriting, skipped
from tilewright.passes.rewriting.substitution import Substitution
from tilewright.passes.targeted_pass import TargetedPass

RULE = Rule("f", 16, "fuse_parts")


class Parts(NamedTuple):
    """An elementwise launch, and its loads of the result of one reduction."""

    reader: FlatLaunch
    loads: Sequence[loop.LoadOp]
    places: Sequence[Subscript]
    """Distinct subscripts of the loads."""


@dataclass
class FuseParts(RewritePattern):
    """Pattern that moves a reduction into the elementwise kernel that joins parts of its result."""

    plan: PlanIndex
    target: Target

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: loop.LaunchOp, rewriter: PatternRewriter) -> None:
        """Move the reduction that `op` launches into its only reader, if that is legal and pays."""
        reduction = self.plan.flat_launch(op, reduces=True)
        if reduction is None or (parts := _parts(self.plan, reduction)) is None:
            return
        consumers = [parts.reader.launch]
        reason = reason_against_fusion(op, consumers, self.plan)
        reason = reason or _reason_against(reduction, parts)
        reason = reason or reason_not_fitting(op, consumers, self.plan, self.target)
        if reason is not None:
            skipped(RULE, reduction.kernel, reason)
            return
        decision = _decision(reduction, parts, self.target)
        if not accepted(RULE, reduction.kernel, [parts.reader.kernel], decision):
            return
        with rewriting(RULE, reduction.kernel, whole_module=True):
            _fuse(rewriter, self.plan, reduction, parts)


def _parts(plan: PlanIndex, reduction: FlatLaunch) -> Parts | None:
    """
    Return the only reader of a reduction if it is elementwise and has several subscripts, or None.
    """
    buffer = reduction.buffer
    if not is_temporary(buffer) or len(consumers := readers(buffer)) != 1:
        return None
    if (reader := plan.flat_launch(consumers[0], reduces=False)) is None:
        return None
    loads = loads_of(reader.kernel, reader.launch, buffer)
    places = list(dict.fromkeys(map(subscript_of, loads)))
    return Parts(reader, loads, places) if len(places) > 1 else None


def _reason_against(reduction: FlatLaunch, parts: Parts) -> str | None:
    """Reason why the reader cannot reduce each part, or None."""
    name = parts.reader.kernel.sym_name.data
    if any(load.mask is not None for load in parts.loads):
        return f"{name} reads it under a mask"
    if _computed(parts) > prod(memref_type(reduction.buffer).get_shape()):
        return f"{name} reads elements several times"
    joined = [len(op.results) for op in reduction.nest.body if isinstance(op, loop.ReduceOp)]
    if sum(joined) * len(parts.places) > MOST_ACCUMULATORS:
        return f"{name} would join more than {MOST_ACCUMULATORS} values at once"
    return None


def _computed(parts: Parts) -> int:
    """
    Return the number of elements of the reduction's result that the reader would compute: one for
    each step and subscript.
    """
    return steps_of(parts.reader.nest.axes) * len(parts.places)


def _decision(reduction: FlatLaunch, parts: Parts, target: Target) -> Decision:
    reducing = work_of(reduction.kernel, reduction.launch)
    reading = work_of(parts.reader.kernel, parts.reader.launch)
    elements = max(prod(memref_type(reduction.buffer).get_shape()), 1)
    together = fused(reducing, reading, reduction.buffer, times=_computed(parts) / elements)
    what = f"reduce {len(parts.places)} parts of {elements} elements where they are joined"
    return decide(what, [reducing, reading], [together], target)


def _fuse(rewriter: PatternRewriter, plan: PlanIndex, reduction: FlatLaunch, parts: Parts) -> None:
    (launch, producer, rows), (reader, loads, places) = reduction, parts
    arguments = KernelArguments(reader.kernel, reader.launch)
    values = arguments.arguments_like(producer, launch)
    for place in places:
        substitution = Substitution(dict(values), rows.axes_at(place.map.results, place.indices))
        same = [load for load in loads if subscript_of(load) == place]
        clones = [substitution.clone(op) for op in rows.body]
        rewriter.insert(clones, InsertPoint.before(same[0]))
        value = substitution.value(rows.store.value)
        for load in same:
            rewriter.replace(load, [], [value])
    join_names(plan, reader.kernel, [reader.kernel, producer])
    arguments.relaunch(rewriter)
    rewriter.erase(launch)
    erase_kernel(rewriter, producer, reduction.buffer)


@dataclass(frozen=True)
class FusePartsPass(TargetedPass):
    """Move a reduction to the kernel that joins parts of its result."""

    name = "fuse-parts"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Fuse until no reduction can move into its reader."""
        plan = PlanIndex(op)
        plan.rewrite(FuseParts(plan, self.gpu))
