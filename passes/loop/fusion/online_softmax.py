# SPDX-License-Identifier: Apache-2.0
"""
Kernels that one reduction with `softmax` can replace: they find the largest score of each row, and
sum weights of the scores, alone and multiplied by values that vary along columns.

    loop.for ROWS {
      %maximum = loop.reduce %k in 65 with max { ... }
      %sum = loop.reduce %k in 65 with add { ... }            sums of weights
      loop.for COLUMNS {
        %out_1 = loop.reduce %k in 65 with add { ... }        sums of products
        ...
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from xdsl.dialects import arith, math
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tilewright.dialects import loop
from tilewright.dialects.element_types import HALVES, is_clamp
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.fastmath import counts_as_finite
from tilewright.dialects.monoid import Monoid
from tilewright.passes.facts.nest import needed_by, nest_block
from tilewright.passes.loop.at_least_one import is_at_least_one
from tilewright.passes.loop.fusion.hidden_scores import is_hidden
from tilewright.passes.loop.fusion.softmax_terms import (
    Largest,
    WeightedSum,
    joined_maximum,
    largest_of,
    shifted_once,
    weighted_sum,
)
from tilewright.passes.loop.launch_graph import inputs_of
from tilewright.passes.loop.plan_index import PlanIndex
from tilewright.passes.loop.value_numbers import Condition, ValueNumbers
from tilewright.passes.rewriting.substitution import Substitution


class OnlineSoftmax(NamedTuple):
    """The largest score of each row, and the sums of its weights."""

    outer: Block
    """Body of the nest over rows."""
    columns: loop.ForOp
    """Nest over columns in `outer`."""
    largest: Largest
    sums: Sequence[WeightedSum]

    @property
    def ops(self) -> list[Operation]:
        """Ops in the nests over rows and over columns, in order."""
        rows = [op for op in self.outer.ops if op is not self.columns]
        return [*rows, *self.columns.body.block.ops]

    @property
    def reductions(self) -> list[loop.ReduceOp]:
        """Reductions that become one."""
        return [self.largest.op, *(each.op for each in self.sums)]

    @property
    def needed(self) -> list[Operation]:
        """Ops in the nests that the scores and the factors need, in order."""
        used = [value for term in self.terms() for value in needed_by(*term)[1]]
        return needed_by(self.ops, used)[0]

    def terms(self) -> Iterator[tuple[Sequence[Operation], Sequence[SSAValue]]]:
        """
        Yield the ops of each reduction, and the values that the one reduction will need of them.
        """
        score = self.largest.score
        yield [*self.largest.op.body.block.ops], [score.value, *score.visible]
        for each in self.sums:
            conditions = [*each.weight.score.visible, *each.weight.visible]
            factor = [] if each.factor is None else [each.factor]
            yield [*each.op.body.block.ops], [*conditions, *factor]

    @property
    def is_clamped(self) -> bool:
        """True if the weights subtract a finite number even in rows of minus infinity."""
        return all(is_clamp(each.weight.shift.owner) for each in self.sums)

    @property
    def joined(self) -> arith.MaximumfOp | None:
        """
        Maximum of the largest score and a number of the row, if the first weights subtract it. The
        number is no clamp.
        """
        return joined_maximum(self.sums[0].weight.shift)

    @property
    def fastmath(self) -> arith.FastMathFlagsAttr | None:
        """Flags of the products, or None if they have none."""
        found = [each.product.fastmath for each in self.sums if each.product is not None]
        return found[0] if found[0].data else None

    @property
    def weights(self) -> Attribute | None:
        """Half type that the weights of all products are rounded to; None if there is none."""
        found = {each.weight.rounded_to for each in self.sums if each.product is not None}
        return next(iter(found)) if len(found) == 1 and found <= {*HALVES} else None

    @property
    def counts_as_finite(self) -> bool:
        """True if the values of the products count as finite, by the flags."""
        return counts_as_finite(self.fastmath)

    @property
    def visible(self) -> Iterator[tuple[loop.ReduceOp, SSAValue]]:
        """Conditions under which scores are visible, each with the reduction that computes it."""
        yield from ((self.largest.op, cond) for cond in self.largest.score.visible)
        for each in self.sums:
            visible = (*each.weight.score.visible, *each.weight.visible)
            yield from ((each.op, cond) for cond in visible)


def online_softmax(kernel: loop.KernelOp) -> OnlineSoftmax | None:
    """
    Return the softmax of a kernel that multiplies its weights by values that vary along columns, or
    None. Whether one reduction can replace it is another question (`reason_against`).
    """
    outer = nest_block(kernel)
    nests = [op for op in outer.ops if isinstance(op, loop.ForOp)]
    for largest in filter(None, map(largest_of, _reductions(outer))):
        for nest in nests:
            found = [*_reductions(outer), *_reductions(nest.body.block)]
            sums = [weighted_sum(op, largest.shifts.__contains__) for op in found]
            softmax = OnlineSoftmax(outer, nest, largest, [*filter(None, sums)])
            if any(_varies(each, nest) for each in softmax.sums):
                return softmax
    return None


def reason_without_softmax(kernel: loop.KernelOp) -> str | None:
    """
    Reason why there is no `online_softmax` in a kernel with a maximum of rows, or None if none of
    its sums along columns depends on one.
    """
    outer = nest_block(kernel)
    maxima = {op for op in _reductions(outer) if op.monoid.data is Monoid.MAX}
    for nest in (op for op in outer.ops if isinstance(op, loop.ForOp)):
        ops = [*outer.ops, *nest.body.block.ops]
        for op in _reductions(nest.body.block):
            used = needed_by([*op.body.block.ops], op.yield_op.values)[1]
            if not maxima.isdisjoint(needed_by(ops, used)[0]):
                return f"{_shown(op)} is not a sum of weights of the scores"
    return None


def _reductions(block: Block) -> list[loop.ReduceOp]:
    return [op for op in block.ops if isinstance(op, loop.ReduceOp)]


def _varies(each: WeightedSum, columns: loop.ForOp) -> bool:
    """True if the sum is one of products whose other factor varies along `columns`."""
    if each.factor is None:
        return False
    _, used = needed_by([*each.op.body.block.ops], [each.factor])
    inside = columns.body.block
    return any(value.owner is inside or _block_of(value) is inside for value in used)


def _block_of(value: SSAValue) -> Block | None:
    return value.owner if isinstance(value.owner, Block) else value.owner.parent


Numbers = Mapping[loop.ReduceOp, ValueNumbers]
"""Value numbers for the body of each reduction, as if all of them had the axis of the first."""


def numbers_of(softmax: OnlineSoftmax, kernel: loop.KernelOp, launch: loop.LaunchOp) -> Numbers:
    """Return value numbers for the reductions of `softmax`, in the kernel that `launch` runs."""
    buffers, axis = inputs_of(kernel, launch), softmax.largest.op.axis
    start = ValueNumbers({}, Substitution())
    return {op: start.under(Substitution({**buffers, op.axis: axis})) for op in softmax.reductions}


def hidden_conditions(
    softmax: OnlineSoftmax, numbers: Numbers
) -> Mapping[frozenset[Condition], tuple[loop.ReduceOp, SSAValue]]:
    """
    Return the conditions under which scores are visible, each with the first reduction in which it
    is computed, and its value there.
    """
    found: dict[frozenset[Condition], tuple[loop.ReduceOp, SSAValue]] = {}
    for op, value in softmax.visible:
        found.setdefault(numbers[op].conditions(value), (op, value))
    return found


def reason_against(
    softmax: OnlineSoftmax, launch: loop.LaunchOp, numbers: Numbers, plan: PlanIndex
) -> str | None:
    """Reason why one reduction cannot replace the reductions of `softmax`, or None."""
    if (kernel := plan.kernel_of(launch)) is None:
        return "it is not a loop.kernel"
    if (times := plan.times_launched(kernel)) > 1:
        return f"it is launched {times} times"
    reason = _reason_against_nests(softmax) or _reason_against_sums(softmax)
    return reason or _reason_against_scores(softmax, launch, numbers, plan)


def _reason_against_nests(softmax: OnlineSoftmax) -> str | None:
    """Reason why ops in the nests prevent a flat nest over rows and columns, or None."""
    ops, reductions = softmax.ops, softmax.reductions
    if any(isinstance(op, loop.ForOp) for op in ops):
        return "it has several loops inside of its rows"
    if any(isinstance(op, loop.ScanOp | loop.PrefixOp) for op in ops_in(*ops)):
        return "it contains a scan"
    if any(isinstance(op, loop.StoreOp) for op in softmax.outer.ops):
        return "it stores a value of each row"
    others = [op for op in ops if isinstance(op, loop.ReduceOp) and op not in reductions]
    if others:
        return f"{_shown(others[0])} is not a sum of weights of the scores"
    if not set(softmax.needed).isdisjoint(reductions):
        return f"a factor of the weights depends on {_shown(softmax.largest.op)}"
    return None


def _reason_against_sums(softmax: OnlineSoftmax) -> str | None:
    """Reason why the sums are not those of one softmax, or None."""
    largest, sums = softmax.largest, softmax.sums
    if largest.op.extent.value.data == 0:
        return "its rows are empty"
    if not softmax.is_clamped:
        if any(each.weight.shift is not sums[0].weight.shift for each in sums):
            return "only some weights subtract a finite number in rows of minus infinity"
        if len({each.weight.is_shifted_again for each in sums}) > 1:
            return "only some weights subtract the largest score twice"
        if any(each.weight.visible for each in sums):
            return "hidden weights are 0 in rows of minus infinity, but the others are NaN"
    for each in sums:
        quotient = each.weight.quotient
        if quotient is not None and not _divides_rows(quotient, softmax):
            return f"weights of {_shown(each.op)} are divided by a value that may be less than 1"
    if len({each.product.fastmath for each in sums if each.product is not None}) > 1:
        return "its products have different fastmath flags"
    return None


def _divides_rows(quotient: arith.DivfOp, softmax: OnlineSoftmax) -> bool:
    """
    True if the divisor belongs to a row, and is the sum of its weights or at least 1: then a sum
    of products may be divided instead of its weights.
    """
    divisor = quotient.rhs
    if _block_of(divisor) not in (softmax.outer, softmax.columns.body.block):
        return False
    weights = [each for each in softmax.sums if each.factor is None]
    totals = [each.op.results[0] for each in weights if each.weight.quotient is None]
    if divisor in totals:
        return True
    if softmax.joined is not None and isinstance(total := divisor.owner, arith.AddfOp):
        return total.lhs in totals and _is_weight_of_sink(total.rhs, softmax.joined)
    return is_at_least_one(divisor)


def _is_weight_of_sink(value: SSAValue, joined: arith.MaximumfOp) -> bool:
    """True if `value` is the exponential of the number that `joined` joins, less the maximum."""
    if not isinstance(value.owner, math.ExpOp):
        return False
    difference, _ = shifted_once(value.owner.operand)
    numbers = ValueNumbers({}, Substitution())  # the sink may be loaded again
    if not isinstance(difference, arith.SubfOp) or difference.rhs is not joined.result:
        return False
    return numbers.number(difference.lhs) in map(numbers.number, joined.operands)


def _reason_against_scores(
    softmax: OnlineSoftmax, launch: loop.LaunchOp, numbers: Numbers, plan: PlanIndex
) -> str | None:
    """Reason why the reductions are not of the same scores, or None."""
    first, (score, _) = softmax.largest.op, softmax.largest.score
    for each in softmax.sums:
        weighted = numbers[each.op].number(each.weight.score.value)
        if each.op.extent != first.extent or weighted != numbers[first].number(score):
            return f"{_shown(each.op)} weights other scores than those of {_shown(first)}"
    visible: dict[loop.ReduceOp, set[Condition]] = {op: set() for op in softmax.reductions}
    for op, condition in softmax.visible:
        visible[op] |= numbers[op].conditions(condition)
    in_all = set[Condition].intersection(*visible.values())
    for condition in set[Condition].union(*visible.values()) - in_all:
        if not is_hidden(score, condition, launch, numbers[first], plan):
            return "not all of its reductions hide the same scores"
    return None


def _shown(op: loop.ReduceOp) -> str:
    return f"%{op.results[0].name_hint or op.monoid.data.value}"
