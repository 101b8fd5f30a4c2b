# SPDX-License-Identifier: Apache-2.0
"""
Steps of a softmax whose sums are proportional to the exponential of minus their largest score.

    %out:3 = loop.reduce %ko in 16 with softmax {
      %cm = tile.combine %x across %tn with max            // the largest score of the step
      %w = math.exp(%x - %cm)                              // proportional to exp(-cm)
      %cl = tile.combine %w across %tn with add            // proportional
      %co = loop.reduce %kk in 64 with add { %w[%kk] * %v[%kk, %tn] }         // proportional
      loop.yield %cm, %cl, %co
    }

A score may be a number times a constant, as after `share-scores`: `%cm` is then the largest number,
the step yields `%cm * 0.125`, and `%w` is `exp((%x - %cm) * 0.125)`.

If any larger number takes the place of `%cm`, the step stands for the same element of the monoid.
With the largest score so far, its sums can be added to those of the steps before (Dao,
FlashAttention-2, 2023, section 3.1).
"""

from collections.abc import Sequence

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import FloatAttr
from xdsl.ir import Operation, OpResult, SSAValue

from tilewright.dialects import loop, tile
from tilewright.dialects.element_types import is_clamp
from tilewright.dialects.monoid import Monoid
from tilewright.dialects.needed_first import needed_first
from tilewright.passes.facts.memoised import memoised
from tilewright.passes.facts.nest import softmax_around

_Degree = int | None
"""Power of exp(-score) that a value is proportional to; None if it depends otherwise."""


@memoised
def largest_of_step(op: loop.ReduceOp) -> tile.CombineOp | None:
    """
    Return the op that computes the largest score of a step of `op`, if all other yielded values are
    proportional to the exponential of minus that score; None otherwise.
    """
    if not op.is_softmax:
        return None
    terminator = op.yield_op
    score, *sums = terminator.values
    number, scale = unscaled(score)
    largest = number.owner
    if not isinstance(largest, tile.CombineOp) or largest.parent is not op.body.block:
        return None
    if terminator.mask is not None or largest.monoid.data is not Monoid.MAX:
        return None
    degrees = _Degrees(number, scale)
    return largest if all(degrees.of(value) == 1 for value in sums) else None


def unscaled(value: SSAValue) -> tuple[SSAValue, float]:
    """Return a number and the positive constant whose product `value` is; 1 if it is no product."""
    op = value.owner
    if isinstance(op, arith.MulfOp) and isinstance(constant := op.rhs.owner, arith.ConstantOp):
        if isinstance(scale := constant.value, FloatAttr) and scale.value.data > 0:
            return op.lhs, scale.value.data
    return value, 1.0


def total_of(op: loop.ReduceOp) -> SSAValue | None:
    """
    Return the sum of a softmax to which the terms of `op` may be added directly, or None. All that
    `op` computes is then what a step adds to that sum.
    """
    around = softmax_around(op)
    if around is None or op.monoid.data is not Monoid.ADD or len(op.results) != 1:
        return None
    use = op.results[0].get_user_of_unique_use()
    if use is not around.yield_op or largest_of_step(around) is None:
        return None
    return around.results[[*around.yield_op.values].index(op.results[0])]


class _Degrees:
    """Powers of exp(-score * scale) that values are proportional to."""

    def __init__(self, score: SSAValue, scale: float):
        self.score, self.scale = score, scale
        self._known: dict[SSAValue, _Degree] = {score: None}

    def of(self, value: SSAValue) -> _Degree:
        """Return the power for `value`."""
        for each in needed_first(value, self._known, _needed):
            self._known[each] = self._degree(each)
        return self._known[value]

    def _degree(self, value: SSAValue) -> _Degree:
        op = value.owner
        degrees = [self._known[each] for each in _needed(value)]
        match op:
            case math.ExpOp() if self._is_relative(op.operand):
                return 1
            case arith.MulfOp() if None not in degrees:
                return sum(degree or 0 for degree in degrees)
            case arith.AddfOp() | arith.SubfOp() if degrees[0] == degrees[1]:
                return degrees[0]
            case arith.DivfOp() | arith.ExtFOp() | arith.TruncFOp() | arith.NegfOp():
                return _first(degrees)
            case loop.LoadOp() | tile.ShareOp() | tile.StageOp():
                return _first(degrees)
            case tile.CombineOp() | loop.ReduceOp() if op.monoid.data is Monoid.ADD:
                return _first(degrees)
            case _:
                return 0 if all(degree == 0 for degree in degrees) else None

    def _is_relative(self, value: SSAValue) -> bool:
        """
        True if `value` is a number that does not depend on the score, less the score, times the
        scale.
        """
        difference, scale = unscaled(value)
        op = difference.owner
        if scale != self.scale:
            return False
        if not isinstance(op, arith.SubfOp) or self._known[op.lhs] != 0:
            return False
        return op.rhs is self.score or self._is_finite_score(op.rhs)

    def _is_finite_score(self, value: SSAValue) -> bool:
        """True if `value` is the maximum of the score and the lowest finite number."""
        op = value.owner
        return isinstance(op, arith.MaximumfOp) and self.score in op.operands and is_clamp(op)


def _first(degrees: Sequence[_Degree]) -> _Degree:
    """Return the first power if the values after it do not depend on the score."""
    return degrees[0] if all(degree == 0 for degree in degrees[1:]) else None


def _needed(value: SSAValue) -> Sequence[SSAValue]:
    """Return the values from which `value` is computed. Its element or its term comes first."""
    op = value.owner
    match op:
        case loop.ReduceOp():
            terms, others = op.yield_op.values, (*op.operands, *op.yield_op.mask_operands)
        case tile.StageOp():
            terms, others = op.yield_op.values, (*op.operands, *op.yield_op.mask_operands)
        case tile.CombineOp():
            terms, others = op.values, op.mask_operands
        case Operation():
            return op.operands
        case _:
            return ()
    assert isinstance(value, OpResult)
    is_alone = not isinstance(op, tile.StageOp) and op.monoid.data.combines_each
    return (*(terms[value.index : value.index + 1] if is_alone else terms), *others)
