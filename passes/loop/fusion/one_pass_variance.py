# SPDX-License-Identifier: Apache-2.0
"""
Makes one reduction of the mean and the squared deviations of rows that do not stay on chip.

    %sum = loop.reduce %k in 4000000 with add {
      %0 = loop.load %x[%i, %k] : memref<4x4000000xf32>
      loop.yield %0 : f32
    } : f32
    %1 = arith.constant 4.000000e+06 : f32
    %2 = arith.divf %sum, %1 : f32
    %sum_1 = loop.reduce %k_1 in 4000000 with add {
      %3 = loop.load %x[%i, %k_1] : memref<4x4000000xf32>
      %4 = arith.subf %3, %2 : f32
      %5 = arith.mulf %4, %4 : f32
      loop.yield %5 : f32
    } : f32

becomes

    %center = median of %x[%i, 0], %x[%i, 2000000], %x[%i, 3999999]     // 0 if it is not finite
    %mean, %squares, %count = loop.reduce %k in 4000000 with moments {
      %0 = loop.load %x[%i, %k] : memref<4x4000000xf32>
      %1 = arith.subf %0, %center : f32
      %2 = arith.constant 0.000000e+00 : f32
      %3 = arith.constant 1.000000e+00 : f32
      loop.yield %1, %2, %3 : f32, f32, f32
    } : f32, f32, f32
    %mean_1 = arith.addf %center, %mean : f32

The row is then read from memory once, and one join of blocks serves both results.

All numbers are shifted by the median of the first, the middle and the last one. Even if they are
far from zero, the means that the joins update are then about as large as the deviations. The
rounding errors of these means are small, too. A single outlier is no median: numbers less an
outlier would lose their last bits.

The rewrite is legal if the mean is that of the numbers whose deviations are squared, and if the sum
has no other use. It pays if rows do not stay on chip, and if a second pass over memory takes longer
than the divisions that update means (`long_rows`).
"""

from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, FloatAttr, ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from tilewright.dialects import loop
from tilewright.dialects.monoid import Monoid
from tilewright.dialects.target import Target
from tilewright.passes.facts.nest import nest_block
from tilewright.passes.loop.fusion.long_rows import LongRows, reduction_like, step_of
from tilewright.passes.loop.plan_index import PlanIndex
from tilewright.passes.loop.scalar_function import constant
from tilewright.passes.loop.value_numbers import ValueNumbers
from tilewright.passes.reporting.trace import Rule, rewriting
from tilewright.passes.rewriting.substitution import Substitution
from tilewright.passes.targeted_pass import TargetedPass

RULE = Rule("f", 26, "one_pass_variance")

_ROUNDING = 2.0**-23
"""Relative error that a count may have as a constant: that of float32."""


class RowVariance(NamedTuple):
    """The sum of a row, its mean, and the sum of the squared deviations from the mean."""

    total: loop.ReduceOp
    mean: arith.DivfOp
    squares: loop.ReduceOp


@dataclass
class OnePassVariance(RewritePattern):
    """Pattern that makes one reduction of the mean and the squared deviations in a kernel."""

    plan: PlanIndex
    target: Target
    most: int | None

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: loop.LaunchOp, rewriter: PatternRewriter) -> None:
        """Make one reduction of those in the kernel that `op` launches, if that pays."""
        kernel = self.plan.kernel_of(op)
        if kernel is None or not self.plan.reduces(kernel):
            return
        if (variance := _row_variance(nest_block(kernel))) is None:
            return
        reason = _reason_against(variance)
        total, squares = variance.total, variance.squares
        rows = LongRows(total, [squares], kernel, op)
        if rows.should_join(RULE, Monoid.MOMENTS, reason, self.target, self.most):
            with rewriting(RULE, kernel):
                _rewrite(variance, rewriter)


def _row_variance(block: Block) -> RowVariance | None:
    """Return the variance whose sums are reductions in `block`, or None."""
    sums = [op for op in block.ops if isinstance(op, loop.ReduceOp) and _is_sum(op)]
    for total in sums:
        means = [use.operation for use in total.results[0].uses]
        for mean in means:
            if not isinstance(mean, arith.DivfOp) or mean.lhs is not total.results[0]:
                continue
            for squares in sums:
                if _deviating(squares, mean.result) is not None:
                    return RowVariance(total, mean, squares)
    return None


def _is_sum(op: loop.ReduceOp) -> bool:
    """True if `op` adds one float of each of its steps."""
    is_sum = op.joins_all_steps(Monoid.ADD) and len(op.results) == 1
    return is_sum and isinstance(op.results[0].type, AnyFloat)


def _deviating(op: loop.ReduceOp, mean: SSAValue) -> SSAValue | None:
    """Return the number whose squared deviation from `mean` is what a step adds, or None."""
    match op.yield_op.values[0].owner:
        case arith.MulfOp(lhs=left, rhs=right) if left is right:
            deviation = left.owner
        case _:
            return None
    if not isinstance(deviation, arith.SubfOp) or deviation.rhs is not mean:
        return None
    return deviation.lhs


def _reason_against(variance: RowVariance) -> str | None:
    """Reason why one reduction cannot replace the reductions of `variance`, or None."""
    total, mean, squares = variance
    (length,) = total.axis_extents()
    if length == 0:
        return "its rows are empty"
    if not total.results[0].has_one_use():
        return "its sums are used, too, not only their means"
    if not _is_count(mean.rhs, length):
        return f"its sums are divided by another number than {length}, the length of rows"
    numbers = ValueNumbers({}, Substitution({squares.axis: total.axis}))
    number, deviating = total.yield_op.values[0], _deviating(squares, mean.result)
    assert deviating is not None
    theirs = numbers.under(Substitution())
    if squares.extent == total.extent and numbers.number(deviating) == theirs.number(number):
        return None
    return "its deviations are of other numbers than its mean"


def _is_count(value: SSAValue, count: int) -> bool:
    """True if `value` is the constant `count`, as a float may represent it."""
    match value.owner:
        case arith.ConstantOp(value=FloatAttr(value=number)):
            return abs(number.data - count) <= count * _ROUNDING
        case _:
            return False


def _rewrite(variance: RowVariance, rewriter: PatternRewriter) -> None:
    """Replace the reductions and the division by one reduction at the place of the sum."""
    old = variance.total
    body, number = step_of(old)
    place, center = InsertPoint.before(old), _center(old)
    rewriter.insert(center, place)
    shift = center[-1].results[0]
    shift.name_hint = "center"
    shifted = arith.SubfOp(number, shift)
    zero, one = (constant(value, shift.type) for value in (0.0, 1.0))
    values = [op.results[0] for op in (shifted, zero, one)]
    body.add_ops([shifted, zero, one, loop.YieldOp(values)])
    reduction = reduction_like(old, body, Monoid.MOMENTS)
    moved, squares, count = reduction.results
    back = arith.AddfOp(shift, moved)
    rewriter.insert([reduction, back], place)
    mean = back.result
    for replaced, result in ((variance.squares, squares), (variance.mean, mean)):
        rewriter.replace(replaced, [], [result])
    for result, name in ((moved, "mean"), (mean, "mean"), (squares, "squares"), (count, "count")):
        result.name_hint = name
    rewriter.erase(old)


def _center(op: loop.ReduceOp) -> list[Operation]:
    """
    Return ops that compute the median of the numbers of the first, the middle and the last step of
    `op`, or 0 if it is not finite.
    """
    (length,) = op.axis_extents()
    ops, numbers = list[Operation](), list[SSAValue]()
    for step in (0, length // 2, length - 1):
        substitution = Substitution(indices={op.axis: (AffineExpr.constant(step), ())})
        inside = (inner for inner in op.body.block.ops if inner is not op.yield_op)
        ops += map(substitution.clone, inside)
        numbers.append(substitution.value(op.yield_op.values[0]))
    first, middle, last = numbers
    low, high = arith.MinimumfOp(first, middle), arith.MaximumfOp(first, middle)
    most = arith.MinimumfOp(high.result, last)
    median = arith.MaximumfOp(low.result, most.result)
    magnitude = math.AbsFOp(median.result)
    infinity, zero = (constant(value, first.type) for value in (inf, 0.0))
    is_finite = arith.CmpfOp(magnitude.result, infinity.result, "olt")
    chosen = arith.SelectOp(is_finite.result, median.result, zero.result)
    ops += [low, high, most, median, magnitude, infinity, zero, is_finite, chosen]
    return ops


@dataclass(frozen=True)
class OnePassVariancePass(TargetedPass):
    """Make one reduction of the mean and the squared deviations of long rows."""

    name = "one-pass-variance"

    kept: int | None = None
    """Length of the longest row that stays on chip; by default as long as the GPU has room for."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Make one reduction of each variance whose rows do not stay on chip."""
        plan = PlanIndex(op)
        plan.rewrite(OnePassVariance(plan, self.gpu, self.kept))
