# SPDX-License-Identifier: Apache-2.0
"""
Computes the scores of attention in the reduction that weighs values by them.

    loop.kernel @scores(%q, %keys) -> (%out) {
      loop.for %i in 2, %j in 37, %l in 65 {
        %sum = loop.reduce %d in 20 with add { ... %q[%i, %j, %d] * %keys[%i, %l, %d] }
        loop.store %sum, %out[%i, %j, %l] ...
      }
    }
    loop.kernel @product(%scores, %v) -> (%out) {
      loop.for %i in 2, %j in 37, %l in 20 {
        %maximum, %sum, %out_1 = loop.reduce %k in 65 with softmax {
          %x = loop.load %scores[%i, %j, %k] ...
          ...

becomes

    loop.for %i in 2, %j in 37, %l in 20 {
      %maximum, %sum, %out_1 = loop.reduce %k in 65 with softmax {
        %x = loop.reduce %d in 20 with add { ... %q[%i, %j, %d] * %keys[%i, %k, %d] }
        ...

The scores are then never stored. A block computes each score once, for all columns of its rows. The
rewrite is legal if one load reads the scores: a score of its own in each step of the rows and of
the reduction, which is the same one for all columns. If there are more columns than a block owns,
several blocks compute the scores of the same rows. If a block has no room for the factors of some
scores, it stages slices of them, which takes longer (`wide_attention`). The rewrite pays if one
kernel takes less time than two (`fusion_cost`).

A score that is hidden where the mask of the reduction fails is computed without the condition.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilewright.dialects import loop
from tilewright.dialects.axes import conditions_of
from tilewright.dialects.target import Target
from tilewright.passes.facts.effects import erase_dead
from tilewright.passes.facts.nest import needed_by, nest_block, steps_of, subscripted_dims
from tilewright.passes.loop.fusion.fusion_cost import Decision, decide, fused, work_of
from tilewright.passes.loop.fusion.fusion_decisions import accepted
from tilewright.passes.loop.fusion.inline_elementwise import inline_into
from tilewright.passes.loop.fusion.kernel_room import reason_not_fitting
from tilewright.passes.loop.fusion.wide_attention import slicing_of
from tilewright.passes.loop.launch_graph import (
    is_temporary,
    loads_of,
    readers,
    reason_against_fusion,
)
from tilewright.passes.loop.plan_index import FlatLaunch, PlanIndex
from tilewright.passes.reporting.trace import Rule, rewriting, skipped
from tilewright.passes.targeted_pass import TargetedPass

RULE = Rule("f", 24, "fuse_scores")


class Weighing(NamedTuple):
    """A kernel that reads scores in a reduction with `softmax`."""

    launch: loop.LaunchOp
    kernel: loop.KernelOp
    reduction: loop.ReduceOp
    loads: Sequence[loop.LoadOp]
    """All loads of the scores."""

    @property
    def columns(self) -> Sequence[SSAValue]:
        """Free axes with which the scores do not vary."""
        read = {index for load in self.loads for index in load.indices}
        return [axis for axis in nest_block(self.kernel).args if axis not in read]


@dataclass
class FuseScores(RewritePattern):
    """Pattern that computes scores in the reduction that weighs values by them."""

    plan: PlanIndex
    target: Target

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: loop.LaunchOp, rewriter: PatternRewriter) -> None:
        """Compute the scores that `op` stores where they are read, if that is legal and pays."""
        scores = self.plan.flat_launch(op, reduces=True)
        weighing = None if scores is None else _weighing(self.plan, scores.buffer)
        if scores is None or weighing is None:
            return
        consumers = [weighing.launch]
        reason = reason_against_fusion(op, consumers, self.plan) or _reason_against(weighing)
        reason = reason or reason_not_fitting(op, consumers, self.plan, self.target)
        if reason is not None:
            skipped(RULE, scores.kernel, reason)
            return
        decision = _decision(scores, weighing, self.target)
        if not accepted(RULE, scores.kernel, [weighing.kernel], decision):
            return
        with rewriting(RULE, scores.kernel, whole_module=True):
            inline_into(rewriter, self.plan, scores, consumers)
            _drop_implied(rewriter, weighing.reduction)


def _weighing(plan: PlanIndex, buffer: SSAValue) -> Weighing | None:
    """
    Return the only reader of `buffer` if a reduction with `softmax` reads it for its scores, or
    None.
    """
    if not is_temporary(buffer) or len(consumers := readers(buffer)) != 1:
        return None
    if (kernel := plan.kernel_of(consumers[0])) is None:
        return None
    loads = loads_of(kernel, consumers[0], buffer)
    scopes = {load.parent_op() for load in loads}
    reduction = scopes.pop() if len(scopes) == 1 else None
    if not isinstance(reduction, loop.ReduceOp) or not reduction.is_softmax:
        return None
    of_scores, _ = needed_by([*reduction.body.block.ops], [reduction.yield_op.values[0]])
    if not set(loads) <= set(of_scores):
        return None
    return Weighing(consumers[0], kernel, reduction, loads)


def _reason_against(weighing: Weighing) -> str | None:
    """Reason why the scores cannot be computed where they are read, or None."""
    name, (load, *others) = weighing.kernel.sym_name.data, weighing.loads
    if others or load.mask is not None:
        return f"{name} reads scores several times, or under a mask"
    dims = subscripted_dims(load.map.data.results, load.indices)
    if weighing.reduction.axis not in dims:
        return f"{name} does not read a score of its own in each step"
    if weighing.reduction.parent is not nest_block(weighing.kernel):
        return f"{name} does not reduce in its outermost nest"
    return None


def _decision(scores: FlatLaunch, weighing: Weighing, target: Target) -> Decision:
    """Return the decision whether the reduction computes its scores, each once for all columns."""
    storing = work_of(scores.kernel, scores.launch)
    reading = work_of(weighing.kernel, weighing.launch)
    columns = steps_of(weighing.columns)
    slicing = slicing_of(scores, target)
    times = slicing.blocks_along(columns)
    together = fused(storing, reading, scores.buffer, times=times * slicing.longer)
    often = "once" if times == 1 else f"{times} times"
    what = f"compute each score {often} for {columns} column{'s' * (columns > 1)}"
    return decide(f"{what}{slicing}", [storing, reading], [slicing.slowed(together)], target)


def _drop_implied(rewriter: PatternRewriter, reduction: loop.ReduceOp) -> None:
    """
    Replace selects of the score by the value for true predicates, if the mask of the yield implies
    that the predicate is true: elsewhere nothing is joined. Selects of the weighted values stay,
    because `nnan` promises only that what they select is a number.
    """
    known = conditions_of(reduction.yield_op.where)
    ops = [*reduction.body.block.ops]
    of_values, _ = needed_by(ops, reduction.yield_op.values[1:])
    for op in ops:
        if not isinstance(op, arith.SelectOp) or op in of_values:
            continue
        predicate = op.cond.owner
        if isinstance(predicate, loop.PredicateOp):
            if conditions_of((predicate.map.data.results, predicate.indices)) <= known:
                rewriter.replace(op, [], [op.lhs])
    erase_dead(reduction, rewriter)


@dataclass(frozen=True)
class FuseScoresPass(TargetedPass):
    """Compute scores in the reductions that weigh values by them."""

    name = "fuse-scores"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Compute all scores of the module where they are read, if that pays."""
        plan = PlanIndex(op)
        plan.rewrite(FuseScores(plan, self.gpu))
