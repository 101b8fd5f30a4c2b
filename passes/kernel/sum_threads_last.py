# SPDX-License-Identifier: Apache-2.0
"""
Adds sums of threads to each other after a loop by `softmax`, not in each of its steps.

    tile.launch (%tm = thread 4 m, %tn = thread 8 n, %vn = register 4 n) {
      %maximum, %sum, %out = loop.reduce %ko in 16 with softmax {
        ...
        %cl = tile.combine %weight across %tn, %vn with add
        loop.yield %cm, %cl, %co
      }

becomes

      %maximum, %own, %out = loop.reduce %ko in 16 with softmax {
        ...
        %cl = tile.combine %weight across %vn with add
        loop.yield %cm, %cl, %co
      }
      %sum = tile.combine %own across %tn with add

A step then needs no shuffles for its sum (FlashAttention-2). The rewrite is legal if the threads
have the same score: they rescale their sums by the same factors. All steps must take part, and the
sum of a step may have no other use.
"""

from collections.abc import Iterator

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from tilewright.dialects import loop, tile
from tilewright.dialects.faster_xdsl.walk import rewrite_each
from tilewright.dialects.monoid import Monoid
from tilewright.dialects.tile.launch import launch_of
from tilewright.dialects.tile.stage import value_varies_along
from tilewright.passes.facts.weighted_values import largest_of_step
from tilewright.passes.reporting.trace import Rule, enclosing_symbol, rewriting, skipped

RULE = Rule("k", 15, "sum_threads_last")


def _sums_of_threads(op: loop.ReduceOp) -> Iterator[tuple[int, tile.CombineOp]]:
    """Yield the numbers of values that `op` yields as sums of threads, each with its combine."""
    for position, value in enumerate(op.yield_op.values):
        combine = value.owner
        if isinstance(combine, tile.CombineOp) and combine.monoid.data is Monoid.ADD:
            if len(combine.results) == 1 and _thread_axes(combine):
                yield position, combine


def _thread_axes(op: tile.CombineOp) -> list[SSAValue]:
    """Return the axes of threads across which `op` combines."""
    launch = launch_of(op.axes[0])
    assert launch is not None
    return [a.value for a in launch.bound_axes() if a.level.is_thread and a.value in op.axes]


def _reason_against(op: loop.ReduceOp, combine: tile.CombineOp) -> str | None:
    """Reason why threads cannot add their sums after the loop, or None."""
    if combine.mask is not None:
        return "a mask leaves out terms of its sum"
    if not combine.results[0].has_one_use():
        return "its sum has another use in the loop"
    score = value_varies_along(op.yield_op.values[0], {})
    if not score.isdisjoint(_thread_axes(combine)):
        return "the threads of its sum have scores of their own"
    return None


class SumThreadsLast(RewritePattern):
    """Pattern that moves sums of threads behind a loop by `softmax`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: loop.ReduceOp, rewriter: PatternRewriter) -> None:
        """Move the sums of threads that `op` yields, if each is relative to the largest score."""
        kernel = enclosing_symbol(op)
        if kernel is None or largest_of_step(op) is None:
            return
        for position, combine in _sums_of_threads(op):
            if (reason := _reason_against(op, combine)) is not None:
                skipped(RULE, kernel, reason)
                continue
            with rewriting(RULE, kernel):
                _move(op, position, combine, rewriter)


def _move(
    op: loop.ReduceOp, position: int, combine: tile.CombineOp, rewriter: PatternRewriter
) -> None:
    """Combine the registers of each thread in the loop, and the threads after it."""
    threads, own_sum = _thread_axes(combine), op.results[position]
    last = tile.CombineOp([own_sum], threads, combine.monoid)
    last.location, last.results[0].name_hint = combine.location, own_sum.name_hint
    rewriter.insert(last, InsertPoint.after(op))
    rewriter.replace_uses_with_if(own_sum, last.results[0], lambda use: use.operation is not last)
    others = [axis for axis in combine.axes if axis not in threads]
    if not others:
        rewriter.replace(combine, [], combine.values)
        return
    own = tile.CombineOp(combine.values, others, combine.monoid)
    own.location = combine.location
    rewriter.replace(combine, own)


class SumThreadsLastPass(ModulePass):
    """Add sums of threads to each other after a loop by `softmax`."""

    name = "sum-threads-last"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Move the sums of threads behind each loop by `softmax` in the module."""
        rewrite_each(op, SumThreadsLast(), loop.ReduceOp)
