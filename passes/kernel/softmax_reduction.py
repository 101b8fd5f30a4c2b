# SPDX-License-Identifier: Apache-2.0
"""
Joins of a score and weighted sums into the registers of a thread.

    loop.yield %x, %g : f32, f32            // %x depends on %vm, %g on %vm and %vn

becomes, for the results `%m` and `%s` of a `loop.reduce ... with softmax`,

    kernel.unroll %vm in 4 {
      %m' = max(%m[%vm], %x)      %a = exp(%m[%vm] - %m')      %b = exp(%x - %m')
    }
    kernel.unroll %vm in 4, %vn in 8 {
      %s' = %s[%vm, %vn] * %a[%vm] + %g * %b[%vm]
    }

Sums with more register axes than the score thereby share its maximum and both weights.

If threads share a step, its largest score `%cm` is known before its sums. The sums are then kept
relative to the largest score so far (`weighted_values.py`), and only old sums are weighted:

    %cm = tile.combine %x across %tn with max
    %w = math.exp(%x - %cm)
    %co = loop.reduce %kk in 64 with add { ... %w ... }
    loop.yield %cm, %co : f32, f32

becomes

    kernel.unroll %vm in 4 {
      %cm' = max(%m[%vm], %cm)    %kept = exp(%m[%vm] - %cm')    %m[%vm] = %cm'
    }
    kernel.unroll %vm in 4, %vn in 8 { %s[%vm, %vn] *= %kept[%vm] }
    ... %w = math.exp(%x - %cm') ...
    scf.for %kk in 64 { %s[%vm, %vn] += ... }
"""

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue

from tilewright.dialects import loop, tile
from tilewright.dialects.element_types import number_attribute
from tilewright.dialects.monoid import Monoid, MonoidAttr
from tilewright.passes.facts.nest import softmax_around
from tilewright.passes.facts.weighted_values import largest_of_step, total_of, unscaled
from tilewright.passes.kernel.emitter import Emitter
from tilewright.passes.kernel.monoid_arith import weighted, weights
from tilewright.passes.kernel.register_joins import OfScore
from tilewright.passes.kernel.thread_values import ThreadValues

_SOFTMAX, _ADD = MonoidAttr(Monoid.SOFTMAX), MonoidAttr(Monoid.ADD)


class SoftmaxReductions:
    """Lowering of the steps of a launch's reductions with `softmax`."""

    def __init__(self, values: ThreadValues, emitter: Emitter):
        self.values, self.emit = values, emitter

    def lower_largest(self, op: tile.CombineOp) -> None:
        """
        Replace the largest score of a step by that of all steps so far, and weight the sums of the
        steps before. Other combines are left as they are.
        """
        around = softmax_around(op)
        if around is None or largest_of_step(around) is not op:
            return
        score, *sums = around.results
        kept = OfScore(score, self.values, self.emit, "kept")
        with self.values.nest(self._axes(score)):
            before = self.values.at(score)
            own, scale = self.values.at(op.results[0]), self._scale(around)
            largest, weight, _ = weights(before, own, self.emit.value, scale)
            self.values.define([score, op.results[0]], [largest, largest])
            kept.set(weight)
        for result in sums:
            with self.values.nest(self._axes(result)):
                before = self.values.at(result)
                self.values.define([result], [self.emit.value(arith.MulfOp(before, kept.get()))])

    def finish(self, op: loop.ReduceOp) -> None:
        """Scale the largest number of all steps, if their scores are multiples of numbers."""
        score = op.results[0]
        if largest_of_step(op) is None or (scale := self._scale(op)) == 1 or not score.uses:
            return
        with self.values.nest(self._axes(score)):
            factor = self.emit.value(arith.ConstantOp(number_attribute(scale, score.type)))
            scaled = self.emit.value(arith.MulfOp(self.values.at(score), factor))
            self.values.define([score], [scaled])

    def is_finished_later(self, op: Operation) -> bool:
        """True if `op` scales the largest number of a step: `finish` scales that of all steps."""
        around = op.parent_op()
        if not isinstance(op, arith.MulfOp) or not isinstance(around, loop.ReduceOp):
            return False
        largest = largest_of_step(around)
        is_scaled = largest is not None and largest.results[0] is op.lhs
        return is_scaled and op.result.get_user_of_unique_use() is around.yield_op

    def _scale(self, op: loop.ReduceOp) -> float:
        """Return the constant that makes scores of the numbers that `largest_of_step` joins."""
        return unscaled(op.yield_op.values[0])[1]

    def adds_to(self, op: loop.ReduceOp) -> SSAValue | None:
        """
        Return the sum of a softmax to which the terms of `op` are added directly, or None. Both
        have the same registers.
        """
        registers, total = self.values.registers, total_of(op)
        if total is None or registers.of(op.results) != registers.of([total]):
            return None
        return total

    def join(self, op: loop.ReduceOp) -> None:
        """Join the score and the values that a step of `op` yields into the results of `op`."""
        if largest_of_step(op) is None:
            self._join_weighted(op)
            return
        for result, value in zip(op.results[1:], op.yield_op.values[1:], strict=True):
            part = value.owner
            if isinstance(part, loop.ReduceOp) and self.adds_to(part) is result:
                if not self._axes(result):
                    self.values.define([result], [self.values.at(value)])
                continue
            with self.values.nest(self._axes(result)):
                both = [self.values.at(result)], [self.values.at(value)]
                self.values.define([result], self.emit.join(_ADD, *both))

    def _join_weighted(self, op: loop.ReduceOp) -> None:
        """Join a score and values, all weighted relative to the larger score."""
        (score, *sums), (mine, *others) = op.results, op.yield_op.values
        kept, taken = (OfScore(score, self.values, self.emit, name) for name in ("kept", "taken"))
        with self.values.nest(self._axes(score)):
            before = self.values.at(score)
            (x,) = self._masked(op, mine, _SOFTMAX)
            largest, a, b = weights(before, x, self.emit.value)
            self.values.define([score], [largest])
            kept.set(a)
            taken.set(b)
        for result, value in zip(sums, others, strict=True):
            with self.values.nest(self._axes(result)):
                before = self.values.at(result)
                (g,) = self._masked(op, value, _ADD)
                total = weighted(before, kept.get(), g, taken.get(), self.emit.value)
                total.name_hint = before.name_hint
                self.values.define([result], [total])

    def _masked(self, op: loop.ReduceOp, value: SSAValue, monoid: MonoidAttr) -> list[SSAValue]:
        """Return a yielded value where the mask of the yield holds, else the identity."""
        return self.emit.masked([self.values.at(value)], self.values.mask(op.yield_op), monoid)

    def _axes(self, value: SSAValue) -> Sequence[SSAValue]:
        registers = self.values.registers
        return registers.ordered(registers.of([value]))
