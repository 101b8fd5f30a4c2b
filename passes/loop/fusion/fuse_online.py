# SPDX-License-Identifier: Apache-2.0
"""
Makes one reduction of a softmax and the products that its weights are factors of.

    loop.for %i in 2, %j in 37 {
      %maximum = loop.reduce %k in 65 with max { ... %s[%i, %j, %k] }
      %0 = arith.maximumf %maximum, -3.40282347e+38
      %sum = loop.reduce %k in 65 with add { ... exp(%s[%i, %j, %k] - %0) }
      loop.for %l in 20 {
        %out_1 = loop.reduce %k in 65 with add { ... exp(%s[%i, %j, %k] - %0) * %v[%i, %k, %l] }
        %1 = arith.divf %out_1, %sum
        loop.store %1, %out[%i, %j, %l] ...

becomes

    loop.for %i in 2, %j in 37, %l in 20 {
      %maximum, %sum, %out_1 = loop.reduce %k in 65 with softmax {
        ... loop.yield %s[%i, %j, %k], 1.0, %v[%i, %k, %l]
      }
      %1 = arith.divf %out_1, %sum
      loop.store %1, %out[%i, %j, %l] ...

The scores are then read once, and need not be stored (`fuse-scores`). Rows may be of any length.

The rewrite is legal if all weights are of the same scores, and if no other value of the products
depends on their maximum. A score that is hidden in one of the reductions must be hidden in all, or
it must be minus infinity itself (`hidden_scores`). If the products count their values as finite,
the conditions of hidden scores become the mask of the reduction, where they are on positions. A
conjunction has several conditions; those that are not on positions stay selects.

Weights may subtract the maximum of the largest score and another number of the row: a sink, which
has a weight but no value (`peel-last-step`). The sums are then multiplied by `exp(%maximum - %m)`,
where `%m` is that maximum. A maximum that is subtracted twice is dropped first
(`drop-second-maximum`). The factor is NaN if both are infinite, as the weights are.

In a row of only minus infinity the weights of `torch.softmax` are NaN, but those of the reduction
are 0. Unless the maximum is clamped to finite numbers, `%maximum - %maximum` is added to each sum:
it is NaN if the maximum is not finite, and else 0. Weights may be divided by their sum: then the
product is divided. If the weights of all products are rounded to a half type, the reduction keeps
the type (`weights`): its weights may be rounded to it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from tilewright.dialects import loop
from tilewright.dialects.axes import Access
from tilewright.dialects.element_types import is_constant
from tilewright.dialects.faster_xdsl.walk import rewrite_each
from tilewright.dialects.monoid import Monoid, MonoidAttr
from tilewright.passes.facts.effects import erase_dead
from tilewright.passes.facts.nest import needed_by, nest_block
from tilewright.passes.loop import predicate_positions
from tilewright.passes.loop.drop_second_maximum import DropSecondMaximum
from tilewright.passes.loop.fusion.online_softmax import (
    Numbers,
    OnlineSoftmax,
    hidden_conditions,
    numbers_of,
    online_softmax,
    reason_against,
    reason_without_softmax,
)
from tilewright.passes.loop.fusion.softmax_terms import kept_weight
from tilewright.passes.loop.plan_index import PlanIndex
from tilewright.passes.loop.scalar_function import constant
from tilewright.passes.reporting.trace import Rule, rewriting, skipped
from tilewright.passes.rewriting.substitution import Substitution, conjunction

RULE = Rule("f", 23, "fuse_online")


@dataclass
class FuseOnline(RewritePattern):
    """Pattern that makes one reduction of the softmax and the products in a kernel."""

    plan: PlanIndex

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: loop.LaunchOp, rewriter: PatternRewriter) -> None:
        """Make one reduction of those in the kernel that `op` launches, if that is legal."""
        kernel = self.plan.kernel_of(op)
        if kernel is None or not _finds_largest(kernel):
            return
        if (softmax := online_softmax(kernel)) is None:
            if (reason := reason_without_softmax(kernel)) is not None:
                skipped(RULE, kernel, reason)
            return
        numbers = numbers_of(softmax, kernel, op)
        if (reason := reason_against(softmax, op, numbers, self.plan)) is not None:
            skipped(RULE, kernel, reason)
            return
        with rewriting(RULE, kernel):
            nest = _flat_nest(softmax, numbers)
            _replace(softmax, nest, rewriter)
            erase_dead(nest, rewriter)
            if softmax.counts_as_finite:
                predicate_positions.apply(kernel, predicate_positions.comparisons(kernel))
                _mask(nest, rewriter)


def _finds_largest(kernel: loop.KernelOp) -> bool:
    """True if the kernel reduces rows by their maximum."""
    reductions = (op for op in nest_block(kernel).ops if isinstance(op, loop.ReduceOp))
    return any(op.monoid.data is Monoid.MAX for op in reductions)


def _flat_nest(softmax: OnlineSoftmax, numbers: Numbers) -> loop.ForOp:
    """Return a nest over rows and columns with one reduction, and with all other ops."""
    rows = softmax.outer.parent_op()
    nests = [rows, softmax.columns] if isinstance(rows, loop.ForOp) else [softmax.columns]
    axes = [axis for nest in nests for axis in nest.body.block.args]
    body = Block(arg_types=[axis.type for axis in axes])
    extents = [extent for nest in nests for extent in nest.axis_extents()]
    flat = loop.ForOp(extents, Region(body), [role for nest in nests for role in nest.axis_roles()])
    flat.location = softmax.columns.location
    substitution = Substitution(dict[SSAValue, SSAValue](zip(axes, body.args, strict=True)))
    for axis, new in substitution.values.items():
        new.name_hint = axis.name_hint
    body.add_ops(substitution.clone(op) for op in softmax.needed)
    _add_reduction(body, softmax, numbers, substitution)
    quotients: dict[Operation, arith.DivfOp] = {
        each.op: each.weight.quotient for each in softmax.sums if each.weight.quotient
    }
    for op in softmax.ops:
        if any(result not in substitution.values for result in op.results) or not op.results:
            body.add_op(substitution.clone(op))
            if op is softmax.joined:
                _rescale(body, softmax, substitution)
        elif op in quotients:
            _divide(body, op.results[0], quotients[op], substitution)
    return flat


def _add_reduction(
    body: Block, softmax: OnlineSoftmax, numbers: Numbers, outer: Substitution
) -> None:
    """
    Add the reduction to the body of the nest, and let `outer` replace the results of the others.
    """
    first, inside = softmax.largest.op, Block(arg_types=[IndexType()])
    inside.args[0].name_hint = first.axis.name_hint
    properties: dict[str, Attribute] = {
        "extent": first.extent,
        "monoid": MonoidAttr(Monoid.SOFTMAX),
    }
    if softmax.fastmath is not None:
        properties["fastmath"] = softmax.fastmath
    if softmax.weights is not None:
        properties["weights"] = softmax.weights
    reduction = loop.ReduceOp.create(
        result_types=[op.results[0].type for op in softmax.reductions],
        properties=properties,
        regions=[Region(inside)],
    )
    reduction.location = first.location
    body.add_op(reduction)  # before its ops, which ask for the range of its axis
    _Step(softmax, outer, inside).fill(hidden_conditions(softmax, numbers).values())
    for op, result in zip(softmax.reductions, reduction.results, strict=True):
        result.name_hint = op.results[0].name_hint
        outer.values[op.results[0]] = result
    if not softmax.is_clamped and softmax.joined is None:
        maximum, *sums = reduction.results
        not_finite = arith.SubfOp(maximum, maximum)  # NaN, or 0 if the maximum is finite
        body.add_op(not_finite)
        for each, total in zip(softmax.sums, sums, strict=True):
            body.add_op(corrected := arith.AddfOp(total, not_finite))
            outer.values[each.op.results[0]] = corrected.result


def _rescale(body: Block, softmax: OnlineSoftmax, substitution: Substitution) -> None:
    """Multiply the sums, relative to the largest score, to be relative to a joined maximum."""
    assert softmax.joined is not None
    largest, joined = softmax.largest.op.results[0], softmax.joined.result
    largest, joined = substitution.value(largest), substitution.value(joined)
    ops = kept_weight(largest, joined, softmax.sums[0].weight.is_shifted_again)
    body.add_ops(ops)
    (kept,) = ops[-1].results
    for each in softmax.sums:
        (total,) = each.op.results
        body.add_op(scaled := arith.MulfOp(substitution.value(total), kept))
        substitution.values[total] = scaled.result


def _divide(
    body: Block, total: SSAValue, quotient: arith.DivfOp, substitution: Substitution
) -> None:
    """Divide a sum in the new nest as its weights were divided."""
    divisor = substitution.value(quotient.rhs)
    division = arith.DivfOp(substitution.value(total), divisor, quotient.fastmath)
    division.location = quotient.location
    body.add_op(division)
    substitution.values[total] = division.result


class _Step:
    """The body of the new reduction, while ops of the old bodies are cloned into it."""

    def __init__(self, softmax: OnlineSoftmax, outer: Substitution, block: Block):
        self.softmax, self.block = softmax, block
        (axis,) = block.args
        self.inside = {
            op: Substitution({**outer.values, op.axis: axis}) for op in softmax.reductions
        }

    def fill(self, conditions: Iterable[tuple[loop.ReduceOp, SSAValue]]) -> None:
        """Add the score, hidden unless `conditions` hold, and the values that are weighted."""
        largest, sums = self.softmax.largest, self.softmax.sums
        score = self._clone(largest.op, largest.score.value)
        hidden = self._constant(-inf, score.type) if conditions else score
        for op, condition in conditions:
            select = arith.SelectOp(self._clone(op, condition), score, hidden)
            self.block.add_op(select)
            score = select.result
        factors = [
            self._constant(1.0, score.type)
            if each.factor is None
            else self._clone(each.op, each.factor)
            for each in sums
        ]
        self.block.add_op(loop.YieldOp([score, *factors]))

    def _clone(self, op: loop.ReduceOp, value: SSAValue) -> SSAValue:
        """Clone the ops in the body of `op` that `value` needs, and return the clone of `value`."""
        substitution = self.inside[op]
        for needed in needed_by([*op.body.block.ops], [value])[0]:
            if needed.results[0] not in substitution.values:
                self.block.add_op(substitution.clone(needed))
        return substitution.value(value)

    def _constant(self, number: float, type: Attribute) -> SSAValue:
        self.block.add_op(op := constant(number, type))
        return op.result


def _replace(softmax: OnlineSoftmax, nest: loop.ForOp, rewriter: PatternRewriter) -> None:
    """Put the new nest in the place of the old ones."""
    rows = softmax.outer.parent_op()
    if isinstance(rows, loop.ForOp):
        rewriter.replace(rows, nest)
        return
    old = [*softmax.outer.ops]
    rewriter.insert(nest, InsertPoint.at_end(softmax.outer))
    for op in reversed(old):
        rewriter.erase(op)


def _mask(nest: loop.ForOp, rewriter: PatternRewriter) -> None:
    """
    Mask the yield of the softmax in `nest` where its score is hidden by conditions on positions.
    """
    for op in nest.body.block.ops:
        if isinstance(op, loop.ReduceOp):
            score, *values = op.yield_op.values
            score, masks = _hidden_by_positions(score)
            new = loop.YieldOp([score, *values], conjunction(masks))
            rewriter.replace(op.yield_op, new, [])
    erase_dead(nest, rewriter)


def _hidden_by_positions(score: SSAValue) -> tuple[SSAValue, Sequence[Access]]:
    """
    Return a score and the masks where conditions on positions do not hide it. It is the given score
    less the selects that hide nothing else.
    """
    masks, value = list[Access](), score
    while isinstance(select := value.owner, arith.SelectOp) and is_constant(select.rhs, -inf):
        conditions = [condition.owner for condition in _conjuncts(select.cond)]
        predicates = [each for each in conditions if isinstance(each, loop.PredicateOp)]
        masks.extend((each.map.data.results, each.indices) for each in predicates)
        if score is value and len(predicates) == len(conditions):
            score = select.lhs
        value = select.lhs
    return score, masks


def _conjuncts(condition: SSAValue) -> Iterator[SSAValue]:
    """Yield the conditions that all hold where `condition` holds."""
    if isinstance(op := condition.owner, arith.AndIOp):
        yield from _conjuncts(op.lhs)
        yield from _conjuncts(op.rhs)
    else:
        yield condition


class FuseOnlinePass(ModulePass):
    """Make one reduction of a softmax and the products of its weights."""

    name = "fuse-online"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Make one reduction of each softmax and its products in the module."""
        if any(_finds_largest(each) for each in op.ops if isinstance(each, loop.KernelOp)):
            rewrite_each(op, DropSecondMaximum(), loop.KernelOp)
        plan = PlanIndex(op)
        plan.rewrite(FuseOnline(plan))
