# SPDX-License-Identifier: Apache-2.0
"""
Takes the last step out of a reduction if it has a value of its own.

    loop.for %i in 8, %j in 37 {
      %maximum = loop.reduce %k in 65 with max {
        %0 = loop.load %sink[%i] where [%k - 64] : memref<8xf32>
        %1 = loop.load %s[%i, %j, %k] where [63 - %k] : memref<8x37x64xf32>
        %2 = loop.predicate [63 - %k] : i1
        %3 = arith.select %2, %1, %0 : f32
        loop.yield %3 : f32
      } : f32

becomes

    loop.for %i in 8, %j in 37 {
      %maximum = loop.reduce %k in 64 with max {
        %0 = loop.load %s[%i, %j, %k] : memref<8x37x64xf32>
        loop.yield %0 : f32
      } : f32
      %maximum_1 = loop.load %sink[%i] : memref<8xf32>
      %maximum_2 = arith.maximumf %maximum, %maximum_1 : f32

Attention with a sink is an example: a number of each head is joined to the scores of a row, but has
no value. `fuse-online` then finds the scores alone. Sums and maxima of floats are split if a select
takes another value in the last step than in all others. Selects whose predicates always hold, or
never, are folded.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, ModuleOp
from xdsl.ir import Block, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilewright.dialects import loop
from tilewright.dialects.axes import conditions_of
from tilewright.dialects.faster_xdsl.walk import ops_in, rewrite_each
from tilewright.dialects.monoid import Monoid
from tilewright.passes.facts.effects import erase_dead
from tilewright.passes.facts.nest import nest_block
from tilewright.passes.reporting.trace import Rule, rewriting
from tilewright.passes.rewriting.share_values import share_values
from tilewright.passes.rewriting.substitution import Substitution

RULE = Rule("f", 27, "peel_last_step")

_JOINS = {Monoid.MAX: arith.MaximumfOp, Monoid.ADD: arith.AddfOp}


def peelable(kernel: loop.KernelOp) -> list[loop.ReduceOp]:
    """Return the reductions of a kernel from which the last step is taken out."""
    reductions = [op for op in nest_block(kernel).ops if isinstance(op, loop.ReduceOp)]
    return list(filter(_has_own_last_step, reductions))


def _has_own_last_step(op: loop.ReduceOp) -> bool:
    """True if a select of `op` takes another value in the last step than in all others."""
    if not any(map(op.joins_all_steps, _JOINS)):
        return False
    if len(op.results) != 1 or not isinstance(op.results[0].type, AnyFloat):
        return False
    steps = op.axis_extents()[0]
    others = AffineExpr.constant(steps - 2) - AffineExpr.dimension(0)
    holds = conditions_of(([others], [op.axis]))
    return steps > 1 and any(
        conditions_of((each.map.data.results, each.indices)) == holds
        for select in op.body.block.ops
        if isinstance(select, arith.SelectOp)
        and isinstance(each := select.cond.owner, loop.PredicateOp)
    )


def _peel(op: loop.ReduceOp, rewriter: PatternRewriter) -> None:
    """Replace a reduction by one with a step less, joined with the value of its last step."""
    steps = op.axis_extents()[0]
    rest = op.begun(steps - 1, op.axis.name_hint)
    body = Substitution({op.axis: rest.axis})
    _clone(op.body.block, body, rest.body.block)
    last, ops = Substitution(indices={op.axis: (AffineExpr.constant(steps - 1), [])}), Block()
    _clone(op.body.block, last, ops)
    value = body.value(op.yield_op.values[0])
    rest.body.block.add_op(loop.YieldOp([value]))
    rest.results[0].name_hint = op.results[0].name_hint
    join = _JOINS[op.monoid.data](rest.results[0], last.value(op.yield_op.values[0]))
    join.location = op.location
    taken = [*ops.ops]
    for each in taken:
        each.detach()
    rewriter.replace(op, [rest, *taken, join])


def _clone(block: Block, substitution: Substitution, into: Block) -> None:
    """Clone the ops of a reduction's body, with selects whose predicates are decided folded."""
    for op in block.ops:
        if isinstance(op, loop.YieldOp):
            continue
        if isinstance(op, arith.SelectOp):
            holds = _decided(substitution.value(op.cond))
            if holds is not None:
                taken = op.lhs if holds else op.rhs
                substitution.values[op.result] = substitution.value(taken)
                continue
        into.add_op(substitution.clone(op))


def _decided(condition: SSAValue) -> bool | None:
    """Return the value of a condition that is a predicate without indices, or None."""
    predicate = condition.owner
    if not isinstance(predicate, loop.PredicateOp) or predicate.indices:
        return None
    return all(expr.eval([], []) >= 0 for expr in predicate.map.data.results)


def _decided_selects(kernel: loop.KernelOp) -> list[tuple[arith.SelectOp, bool]]:
    """Return the selects of a kernel whose conditions are decided, each with its condition."""
    selects = [op for op in ops_in(kernel) if isinstance(op, arith.SelectOp)]
    found = [(select, _decided(select.cond)) for select in selects]
    return [(select, holds) for select, holds in found if holds is not None]


class PeelLastSteps(RewritePattern):
    """Pattern that takes last steps with a value of their own out of reductions."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, kernel: loop.KernelOp, rewriter: PatternRewriter) -> None:
        found = peelable(kernel)
        if not found and not _decided_selects(kernel):
            return
        with rewriting(RULE, kernel):
            while found:  # the rest may have a last step of its own
                for op in found:
                    _peel(op, rewriter)
                found = peelable(kernel)
            for select, holds in _decided_selects(kernel):
                rewriter.replace(select, [], [select.lhs if holds else select.rhs])
            erase_dead(kernel, rewriter)
            share_values(kernel, rewriter)


@dataclass(frozen=True)
class PeelLastStepPass(ModulePass):
    """Take last steps with a value of their own out of reductions."""

    name = "peel-last-step"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Take the last step out of reductions of each kernel in the module."""
        rewrite_each(op, PeelLastSteps(), loop.KernelOp)
