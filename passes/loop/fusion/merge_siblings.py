# SPDX-License-Identifier: Apache-2.0
"""
Merges two kernels over the same axes that read the same elements into one with several outputs.

    loop.launch @k(%wk, %y) -> (%k)        // loop.for %i in 32, %j in 64 { ... %y[%i, %k] ... }
    loop.launch @v(%wv, %y) -> (%v)        // loop.for %i in 32, %j in 64 { ... %y[%i, %k] ... }

becomes

    loop.launch @k_v(%wk, %y, %wv) -> (%k, %v)

Merging is legal if neither kernel needs the other's result and the plan has a place for both.
Merging saves a launch and the bytes that both read. Merging leaves no more of the GPU idle, since
launches run one after the other anyway (`fusion_cost`). Merging costs registers, which are limited:
a reduction holds accumulators for each of its values, an elementwise kernel the loads of each of
its outputs. Elementwise kernels may differ in the extent of one axis; the smaller one is then
masked. An example is the rotation of queries and keys by one table, with fewer heads of keys. Where
its mask fails, the smaller kernel computes in vain.

Fusion goes first, because it handles only kernels of one output; `merge-loops` merges the loops.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.pattern_rewriter import (
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)

from tilewright.dialects import loop
from tilewright.dialects.axes import extent_of
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.target import Target
from tilewright.passes.facts.nest import nest_block
from tilewright.passes.loop.fusion.fusion_cost import (
    MOST_ACCUMULATORS,
    MOST_OUTPUTS,
    Decision,
    decide,
    merged,
    often,
    size,
    work_of,
)
from tilewright.passes.loop.fusion.fusion_decisions import accepted
from tilewright.passes.loop.fusion.kernel_arguments import KernelArguments
from tilewright.passes.loop.fusion.kernel_room import reason_not_fitting
from tilewright.passes.loop.fusion.shared_loads import reading, readings
from tilewright.passes.loop.fusion.siblings import Sibling, bytes_shared, in_order_of_size
from tilewright.passes.loop.launch_graph import following, merge_point, reason_against_fusion
from tilewright.passes.loop.name_kernels import join_names
from tilewright.passes.loop.plan_index import PlanIndex
from tilewright.passes.reporting.trace import Rule, is_listening, rewriting, skipped
from tilewright.passes.rewriting.substitution import Substitution
from tilewright.passes.targeted_pass import TargetedPass

RULE = Rule("f", 7, "merge_siblings")


@dataclass
class MergeSiblings(RewritePattern):
    """Pattern that merges the kernel of a launch with the kernel of a later launch."""

    plan: PlanIndex
    target: Target

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: loop.LaunchOp, rewriter: PatternRewriter) -> None:
        """
        Merge the kernel of `op` with that of the first later launch for which merging is legal and
        pays.
        """
        first = self._sibling(op)
        if first is None:
            return
        for other in _sharing_after(op):
            second = self._sibling(other)
            if second is None or (pair := in_order_of_size(first, second)) is None:
                continue
            needs_first = not set(op.outputs).isdisjoint(other.inputs)
            place = None if needs_first else merge_point(op, other)
            if place is None or not (saved := bytes_shared(*pair)):
                continue
            reason = reason_against_fusion(op, [other], self.plan) or _reason_against(*pair, saved)
            reason = reason or reason_not_fitting(op, [other], self.plan, self.target)
            if reason is not None:
                skipped(RULE, first.kernel, reason)
                if _is_full(first):
                    return
                continue
            decision = _decision(*pair, self.target)
            if not accepted(RULE, first.kernel, [second.kernel], decision):
                continue
            with rewriting(RULE, first.kernel, whole_module=True):
                _merge(rewriter, self.plan, *pair, place)
            return

    def _sibling(self, launch: loop.LaunchOp) -> Sibling | None:
        kernel = self.plan.kernel_of(launch)
        if kernel is None or any(isinstance(op, loop.ScanOp) for op in ops_in(kernel)):
            return None
        if any(map(kernel.is_updated, kernel.outputs)):
            return None  # another launch may write the rest of its buffer
        return Sibling(launch, kernel, nest_block(kernel))


def _sharing_after(launch: loop.LaunchOp) -> Iterator[loop.LaunchOp]:
    """Yield the later launches that use an input of `launch`."""
    users = {use.operation for buffer in launch.inputs for use in buffer.uses}
    for op in following(launch):
        if isinstance(op, loop.LaunchOp) and op in users:
            yield op


def _is_full(sibling: Sibling) -> bool:
    """
    True if no other kernel can be merged with this one. The check avoids asking all siblings, which
    takes quadratic time. A sibling has at least one output, and accumulators if this one has some.
    """
    outputs = len(sibling.launch.outputs)
    return outputs >= MOST_OUTPUTS or sibling.accumulators >= MOST_ACCUMULATORS


def _reason_against(base: Sibling, other: Sibling, saved: int) -> str | None:
    """Reason why a thread could not hold the values of both kernels, or None."""
    shares = f"it shares {size(saved)} with {other.kernel.sym_name.data}, but"
    if (values := base.accumulators + other.accumulators) > MOST_ACCUMULATORS:
        return f"{shares} {values} accumulators take too many registers in a matrix product"
    if (outputs := len(base.launch.outputs) + len(other.launch.outputs)) > MOST_OUTPUTS:
        return f"{shares} {outputs} outputs keep too many loads in flight"
    return None


def _decision(base: Sibling, other: Sibling, target: Target) -> Decision:
    """
    Return the decision whether one kernel does the work of both, in the steps of the larger one.
    """
    if not is_listening() and base.extents == other.extents:
        return Decision(True, "nothing is done twice")
    mine, theirs = (work_of(one.kernel, one.launch) for one in (base, other))
    times = prod(base.extents) / max(prod(other.extents), 1)
    what = f"do {often(times)} the work of {other.kernel.sym_name.data} in the same steps"
    return decide(what, [mine, theirs], [merged(mine, theirs, times=times)], target)


def _merge(
    rewriter: PatternRewriter,
    plan: PlanIndex,
    base: Sibling,
    other: Sibling,
    place: loop.LaunchOp,
) -> None:
    """Add the work of `other` to the kernel of `base`, and launch that at `place`."""
    arguments = KernelArguments(base.kernel, base.launch)
    values = arguments.arguments_like(other.kernel, other.launch)
    written = zip(other.kernel.outputs, other.launch.outputs, strict=True)
    values |= {output: arguments.add_output(buffer) for output, buffer in written}
    _add_steps(base, other, values)
    join_names(plan, base.kernel, [base.kernel, other.kernel], gone=[other.kernel])
    arguments.relaunch(rewriter, at=place)
    rewriter.erase(other.launch)
    rewriter.erase(other.kernel)


def _add_steps(base: Sibling, other: Sibling, values: dict[SSAValue, SSAValue]) -> None:
    """Add the work of `other` to each step of `base`, without loads that are there already."""
    substitution = Substitution(values)
    for old, new, extent in zip(other.axes, base.axes, other.extents, strict=True):
        values[old] = new
        if extent != extent_of(new):
            substitution.bounds[old] = ([AffineExpr.dimension(0) * -1 + (extent - 1)], [new])
    known = readings([op for op in base.block.ops if isinstance(op, loop.LoadOp)], {})
    for op in (*other.before, *other.block.ops):
        clone = substitution.clone(op)
        same = known.get(reading(clone, {})) if isinstance(clone, loop.LoadOp) else None
        if same is None:
            base.block.add_op(clone)
            continue
        substitution.values[op.results[0]] = same.result
        clone.erase()


@dataclass(frozen=True)
class MergeSiblingsPass(TargetedPass):
    """Merge kernels over the same axes that read the same elements."""

    name = "merge-siblings"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Merge until no two kernels can be merged."""
        plan = PlanIndex(op)
        plan.rewrite(MergeSiblings(plan, self.gpu))
