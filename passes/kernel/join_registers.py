# SPDX-License-Identifier: Apache-2.0
"""
Joins the values that a thread has in registers before they are joined with those of earlier steps,
if a join is expensive: `softmax` takes two exponentials for it, `moments` a division.

    tile.launch (%t = thread 32 k, %v = register 4 k) {
      %mean, %squares, %count = loop.reduce %k in 8 with moments {
        ... loop.yield %x, 0.0, 1.0
      }
      %a, %b, %c = tile.combine %mean, %squares, %count across %t, %v with moments

becomes

      %mean, %squares, %count = loop.reduce %k in 8 with moments {
        %sum, %n = tile.combine %x, 1.0 across %v with add
        %most = arith.maximumf %n, 1.0
        %m = arith.divf %sum, %most
        %d = arith.subf %x, %m
        %q = tile.combine (%d * %d) across %v with add
        loop.yield %m, %q, %n
      }
      %a, %b, %c = tile.combine %mean, %squares, %count across %t with moments

For `softmax`, a step yields the largest score and sums of weights relative to it. The sums so far
are rescaled once for all scores of the step (`softmax_reduction.py`). Steps that the mask of the
yield leaves out take part in no combine.

The rewrite is legal if each step yields one element: a score and values that it weights; or a
number, 0 and 1.
"""

from collections.abc import Callable, Mapping, Sequence

from xdsl.context import Context
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.rewriter import InsertPoint

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Access
from tilewright.dialects.element_types import LOWEST, is_constant, number_attribute
from tilewright.dialects.faster_xdsl.walk import rewrite_each
from tilewright.dialects.monoid import Monoid, MonoidAttr
from tilewright.dialects.tile.attributes import Level
from tilewright.dialects.tile.launch import launch_of
from tilewright.dialects.tile.stage import value_varies_along
from tilewright.passes.facts.nest import chunk_of
from tilewright.passes.reporting.trace import Rule, enclosing_symbol, rewriting, skipped

RULE = Rule("k", 13, "join_registers")


class _Step:
    """The values that a step yields, while they are joined across register axes."""

    def __init__(
        self, op: loop.YieldOp, axes: Sequence[SSAValue], rewriter: PatternRewriter
    ) -> None:
        self.values, self.axes, self.rewriter = [*op.values], axes, rewriter
        reduction = op.parent_op()
        assert isinstance(reduction, loop.ReduceOp)
        self.fastmath = reduction.fastmath
        self.where: Access | None = None if op.mask is None else op.where
        self.place = InsertPoint.before(op)

    def add(self, op: Operation) -> SSAValue:
        """Insert `op` before the yield, and return its result."""
        self.rewriter.insert(op, self.place)
        return op.results[0]

    def number(self, value: float, type: Attribute) -> SSAValue:
        """Return the constant `value`."""
        return self.add(arith.ConstantOp(number_attribute(value, type)))

    def combined(self, monoid: Monoid, *values: SSAValue) -> Sequence[SSAValue]:
        """Return `values` joined across the register axes, where the mask of the yield holds."""
        op = tile.CombineOp(values, self.axes, MonoidAttr(monoid), self.where)
        self.rewriter.insert(op, self.place)
        return op.results


def _of_softmax(step: _Step) -> Sequence[SSAValue]:
    """Return the largest score, and the sums of values that are weighted relative to it."""
    score, *values = step.values
    (largest,) = step.combined(Monoid.MAX, score)
    lowest = step.number(LOWEST[score.type], score.type)
    finite = step.add(arith.MaximumfOp(largest, lowest))
    weight = step.add(math.ExpOp(step.add(arith.SubfOp(score, finite))))
    terms = [_weighted(weight, value, step) for value in values]
    return [largest, *step.combined(Monoid.ADD, *terms)]


def _weighted(weight: SSAValue, value: SSAValue, step: _Step) -> SSAValue:
    return (
        weight if is_constant(value, 1.0) else step.add(arith.MulfOp(weight, value, step.fastmath))
    )


def _of_moments(step: _Step) -> Sequence[SSAValue]:
    """Return the mean of the numbers, the sum of their squared deviations, and their count."""
    number, _, one = step.values
    total, count = step.combined(Monoid.ADD, number, one)
    most = step.add(arith.MaximumfOp(count, one))
    mean = step.add(arith.DivfOp(total, most))
    deviation = step.add(arith.SubfOp(number, mean))
    (squares,) = step.combined(Monoid.ADD, step.add(arith.MulfOp(deviation, deviation)))
    return [mean, squares, count]


_JOINS: Mapping[Monoid, Callable[[_Step], Sequence[SSAValue]]] = {
    Monoid.SOFTMAX: _of_softmax,
    Monoid.MOMENTS: _of_moments,
}


class JoinRegisters(RewritePattern):
    """Pattern that moves the join of a thread's values into the steps of their reduction."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tile.CombineOp, rewriter: PatternRewriter) -> None:
        """Join the registers of each step, if `op` joins the results of one reduction."""
        kernel, reduction = enclosing_symbol(op), op.values[0].owner
        if kernel is None or op.monoid.data not in _JOINS or op.mask is not None:
            return
        if not isinstance(reduction, loop.ReduceOp) or not _joins_only(op, reduction):
            return
        step = chunk_of(reduction) or reduction
        axes = _register_axes(op, step)
        if not axes:
            return
        if not _yields_elements(step):
            skipped(RULE, kernel, "its steps yield values that stand for several elements")
            return
        with rewriting(RULE, kernel):
            values = _JOINS[op.monoid.data](_Step(step.yield_op, axes, rewriter))
            rewriter.replace(step.yield_op, loop.YieldOp(values))
            others = [axis for axis in op.axes if axis not in axes]
            if not others:
                rewriter.replace(op, [], reduction.results)
                return
            join = None if op.join is None else op.join.data
            rewriter.replace(op, tile.CombineOp(op.values, others, op.monoid, None, join))


def _joins_only(op: tile.CombineOp, reduction: loop.ReduceOp) -> bool:
    """True if `op` joins all results of `reduction`, and nothing else uses them."""
    is_same = op.monoid == reduction.monoid and tuple(op.values) == tuple(reduction.results)
    return is_same and all(result.has_one_use() for result in reduction.results)


def _register_axes(op: tile.CombineOp, step: loop.ReduceOp) -> list[SSAValue]:
    """Return the register axes that `op` joins across, and with which elements vary."""
    launch = launch_of(op.axes[0])
    assert launch is not None
    varies = value_varies_along(step.yield_op.values[0], {})
    found = [axis.value for axis in launch.axes_at(Level.REGISTER) if axis.extent > 1]
    return [axis for axis in found if axis in op.axes and axis in varies]


def _yields_elements(step: loop.ReduceOp) -> bool:
    """True if `step` yields elements of its monoid, and not values that stand for several."""
    if step.is_softmax:
        return step.weights is None and not isinstance(step.yield_op.values[0].owner, loop.ReduceOp)
    _, zero, one = step.yield_op.values
    return is_constant(zero, 0.0) and is_constant(one, 1.0)


class JoinRegistersPass(ModulePass):
    """Join the values of a thread in each step of a reduction whose joins are expensive."""

    name = "join-registers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite each reduction by `softmax` or `moments` whose results a thread joins."""
        rewrite_each(op, JoinRegisters(), tile.CombineOp)
