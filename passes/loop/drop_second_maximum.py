# SPDX-License-Identifier: Apache-2.0
"""
Replaces the maximum of scores that are relative to their maximum: it is 0, or NaN.

    loop.for %i in 37 {
      %maximum = loop.reduce %k in 64 with max { ... loop.yield %x }
      %0 = arith.maximumf %maximum, %sink : f32
      %maximum_1 = loop.reduce %k in 64 with max { ... loop.yield %x - %0 }
      %1 = arith.subf %sink, %0 : f32
      %2 = arith.maximumf %maximum_1, %1 : f32

becomes

    loop.for %i in 37 {
      %maximum = loop.reduce %k in 64 with max { ... loop.yield %x }
      %0 = arith.maximumf %maximum, %sink : f32
      %2 = arith.subf %0, %0 : f32

Models subtract the maximum before `torch.softmax`, which subtracts it again. Without `%sink`, `%0`
and `%2` are the results of the reductions. The rewrite is exact: a rounded difference is the
largest for the largest `%x`, and it is NaN where the maximum is infinite or NaN.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilewright.dialects import loop
from tilewright.dialects.faster_xdsl.walk import rewrite_each
from tilewright.dialects.monoid import Monoid
from tilewright.passes.facts.effects import erase_dead
from tilewright.passes.facts.nest import nest_block
from tilewright.passes.loop.value_numbers import ValueNumbers
from tilewright.passes.reporting.trace import Rule, rewriting
from tilewright.passes.rewriting.substitution import Substitution

RULE = Rule("f", 28, "drop_second_maximum")


def relative_to(op: loop.ReduceOp) -> tuple[loop.ReduceOp, SSAValue] | None:
    """
    Return the reduction that finds the maximum of the same scores, and the shift of the scores of
    `op`: this maximum, or its maximum with another number. Return None if there are none.
    """
    if not _finds_maximum(op) or not isinstance(score := op.yield_op.values[0].owner, arith.SubfOp):
        return None
    shift = score.rhs
    if shift.owner.parent is op.body.block:
        return None  # each step has its own
    joined = shift.owner.operands if isinstance(shift.owner, arith.MaximumfOp) else [shift]
    own = ValueNumbers({}, Substitution())
    for first in (value.owner for value in joined):
        if not isinstance(first, loop.ReduceOp) or not _finds_maximum(first):
            continue
        if first.parent is not op.parent or first.extent != op.extent or not op.extent.value.data:
            continue
        theirs = own.under(Substitution({first.axis: op.axis}))
        if own.number(score.lhs) == theirs.number(first.yield_op.values[0]):
            return first, shift
    return None


def _finds_maximum(op: loop.ReduceOp) -> bool:
    """True if `op` finds the maximum of one value of each of its steps."""
    return op.joins_all_steps(Monoid.MAX) and len(op.results) == 1


def _shift_of_differences(op: Operation) -> SSAValue | None:
    """Return the maximum of two numbers if `op` is the maximum of both less it, or None."""
    if not isinstance(op, arith.MaximumfOp):
        return None
    numbers = ValueNumbers({}, Substitution())
    left, right = op.lhs.owner, op.rhs.owner
    if not isinstance(left, arith.SubfOp) or not isinstance(right, arith.SubfOp):
        return None
    shift = left.rhs.owner
    if not isinstance(shift, arith.MaximumfOp) or left.rhs is not right.rhs:
        return None
    same = {*map(numbers.number, (left.lhs, right.lhs))} == {*map(numbers.number, shift.operands)}
    return shift.result if same else None


class DropSecondMaximum(RewritePattern):
    """Pattern that replaces maxima of scores that are relative to their maximum."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, kernel: loop.KernelOp, rewriter: PatternRewriter) -> None:
        block = nest_block(kernel)
        ops = [op for op in block.ops if isinstance(op, loop.ReduceOp)]
        found = {op: pair for op in ops if (pair := relative_to(op)) is not None}
        if not found:
            return
        with rewriting(RULE, kernel):
            for op, (first, shift) in found.items():
                _replace(op, first.results[0], shift, rewriter)
            for op in list(block.ops):
                if (shift := _shift_of_differences(op)) is not None:
                    _replace(op, shift, shift, rewriter)
            erase_dead(kernel, rewriter)


def _replace(op: Operation, largest: SSAValue, shift: SSAValue, rewriter: PatternRewriter) -> None:
    """Replace a maximum of differences by the difference of the largest number."""
    difference = arith.SubfOp(largest, shift)
    difference.location = op.location
    rewriter.replace(op, difference)


@dataclass(frozen=True)
class DropSecondMaximumPass(ModulePass):
    """Replace maxima of scores that are relative to their maximum."""

    name = "drop-second-maximum"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Replace these maxima in each kernel of the module."""
        rewrite_each(op, DropSecondMaximum(), loop.KernelOp)
