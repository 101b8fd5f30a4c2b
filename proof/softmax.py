# SPDX-License-Identifier: Apache-2.0
"""
Softmax reductions whose scores threads share (`share-scores`), as joins of scores and values.

    loop.reduce %ko in 8 with softmax {
      %masked = arith.select %counts, %x, %minus_infinity
      %m = tile.combine %masked across %tn with max
      %weight = math.exp ((%masked - %m) * scale)
      %s = tile.combine %weight across %tn with add
      %o = loop.reduce %kk in 64 with add { ... loop.yield %weights[%tm, %kk] * %v }
      loop.yield %m * scale, %s, %o
    }

joins the terms (%x * scale, 1, %v) of the loop nest. A sum of softmax adds `exp(x - m) * v` for the
maximum m. Therefore %o is right if %m is the maximum of the scores, and %o adds exactly the pairs
(x, v) of the nest. Its weights have to be relative to this %m.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import FloatAttr
from xdsl.ir import OpResult, SSAValue

from tilewright.dialects.element_types import is_clamp, is_constant
from tilewright.dialects.loop import PredicateOp
from tilewright.dialects.monoid import Monoid
from tilewright.dialects.tile import CombineOp, launch_of, value_varies_along
from tilewright.proof.formulas import Formula, equal
from tilewright.proof.scope import Scope, UnmatchedError
from tilewright.proof.seen import Joined, joined, opened, seen

_CASTS = (arith.ExtFOp, arith.TruncFOp)
"""Casts of weights, which only round."""


def softmax_parts(new: Joined, old: Joined, number: int) -> Sequence[tuple[Joined, Joined]]:
    """
    Return the joins of a tile and of its nest whose terms have to be equal if result `number` of
    their softmax is equal. A tile whose terms are scores and values has one, of all of them.
    """
    shared = _shared_scores(new)
    if shared is None:
        return [(new, old)]
    score = shared.unscaled(old.terms[0])
    parts = [(shared.scores(), old._replace(monoid=Monoid.MAX, terms=[score]))]
    if number == 0:
        return parts
    sum, value = shared.weighted(new.terms[number]), old.terms[number]
    if len(sum.terms) > 1:
        return [*parts, (sum, old._replace(terms=[score, value], is_weighted=True))]
    if not is_constant(value, 1):
        raise UnmatchedError("a sum of weights against one of weighted values")
    return [*parts, (sum, old._replace(terms=[score]))]


def _shared_scores(of: Joined) -> "_SharedScores | None":
    """Return the scores of which the first term is the maximum, or None if it is a score itself."""
    if of.monoid is not Monoid.SOFTMAX:
        return None
    largest, scale = _scaled(of.terms[0])
    combine = largest.owner
    if not isinstance(combine, CombineOp) or combine.monoid.data is not Monoid.MAX or scale <= 0:
        return None
    return _SharedScores(of, largest, combine, scale)


@dataclass(frozen=True)
class _SharedScores:
    """Scores of a row in several threads: at each step of `outer`, and across `combine`."""

    outer: Joined
    largest: SSAValue
    """Maximum of the scores without their scale."""
    combine: CombineOp
    scale: float

    @property
    def masked(self) -> SSAValue:
        """Score of a thread without its scale, which may be minus infinity."""
        return self.combine.values[_index(self.largest)]

    def unscaled(self, score: SSAValue) -> SSAValue:
        """Return the score of a nest without the scale of the tile."""
        if self.scale == 1:
            return score
        value, scale = _scaled(score)
        if scale != self.scale:
            raise UnmatchedError(f"scores times {scale} against {self.scale}")
        return value

    def scores(self) -> Joined:
        """Return the join of all scores."""
        across = opened(self.outer._replace(monoid=Monoid.MAX), self.combine)
        score, counts = _counted(self.masked, across.scope)
        return across._replace(terms=[score], facts=[*across.facts, *counts])

    def weighted(self, sum: SSAValue) -> Joined:
        """Return the join of scores, and of the values that a sum of weights multiplies by them."""
        products = joined(sum, self.outer.scope, Monoid.ADD)
        scope, terms = products.scope, products.terms
        term = terms[_index(sum)] if len(terms) > 1 else terms[0]
        for factor, values in _factorings(term):
            weight, at, unless_zero, needs = seen(_uncast(factor), scope)
            if not self._is_weight(weight := _uncast(weight)):
                continue
            score, counts = _counted(self.masked, at)
            return Joined(
                Monoid.SOFTMAX,
                [score, *values],
                scope,
                [*self.outer.axes, *products.axes],
                [*self.outer.facts, *products.facts, *unless_zero, *counts],
                score_scope=at,
                needs=[*needs, self._same_row(at)],
                is_weighted=bool(values),
            )
        raise UnmatchedError("a sum of other terms than weights of the scores beside it")

    def _is_weight(self, value: SSAValue) -> bool:
        """True if `value` is the exponential of a thread's score less the largest score."""
        if not isinstance(exp := value.owner, math.ExpOp):
            return False
        difference, scale = _scaled(exp.operand)
        sub = difference.owner
        if scale != self.scale or not isinstance(sub, arith.SubfOp) or sub.lhs is not self.masked:
            return False
        if sub.rhs is self.largest:
            return True
        clamp = sub.rhs.owner
        if not isinstance(clamp, arith.MaximumfOp) or not is_clamp(clamp):
            return False
        return self.largest in (clamp.lhs, clamp.rhs)

    def _same_row(self, at: Scope) -> Formula:
        """Return the condition that the largest score is the same where a weight is computed."""
        here = self.outer.scope.axes
        varies = value_varies_along(self.largest, {})
        axes = [axis for axis in here if launch_of(axis) is None or axis in varies]
        return equal([at.axes[axis] for axis in axes], [here[axis] for axis in axes])


def _index(value: SSAValue) -> int:
    """Return the number of a result among those of its op; 0 for all other values."""
    return value.index if isinstance(value, OpResult) else 0


def _factorings(term: SSAValue) -> Sequence[tuple[SSAValue, Sequence[SSAValue]]]:
    """Return a term as one of its factors and the rest, in all ways."""
    product = term.owner
    if not isinstance(product, arith.MulfOp):
        return [(term, ())]
    return [(product.lhs, [product.rhs]), (product.rhs, [product.lhs])]


def _scaled(value: SSAValue) -> tuple[SSAValue, float]:
    """Return a value without its constant factor, and the factor."""
    for number, values in _factorings(value):
        match number.owner:
            case arith.ConstantOp(value=FloatAttr() as factor) if values:
                return values[0], factor.value.data
            case _:
                pass
    return value, 1.0


def _uncast(value: SSAValue) -> SSAValue:
    return value.owner.operands[0] if isinstance(value.owner, _CASTS) else value


def _counted(masked: SSAValue, scope: Scope) -> tuple[SSAValue, Sequence[Formula]]:
    """Return the score that a mask replaces by minus infinity, and the conditions of the mask."""
    match masked.owner:
        case arith.SelectOp(cond=cond) as select if is_constant(select.rhs, -inf) and isinstance(
            counts := cond.owner, PredicateOp
        ):
            return select.lhs, scope.holds((counts.map.data.results, counts.indices))
        case _:
            return masked, ()
