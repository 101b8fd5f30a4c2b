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
"""

from collections.abc import Sequence

from xdsl.ir import SSAValue

from tilewright.dialects import loop
from tilewright.dialects.axes import Access
from tilewright.dialects.kernel.registers import RegistersOp
from tilewright.dialects.monoid import Monoid, MonoidAttr
from tilewright.passes.kernel.emitter import Emitter
from tilewright.passes.kernel.monoid_arith import weighted, weights
from tilewright.passes.kernel.thread_values import ThreadValues

_SOFTMAX, _ADD = MonoidAttr(Monoid.SOFTMAX), MonoidAttr(Monoid.ADD)


class SoftmaxReductions:
    """Lowering of the yields of a launch's reductions with `softmax`."""

    def __init__(self, values: ThreadValues, emitter: Emitter):
        self.values, self.emit = values, emitter

    def join(self, results: Sequence[SSAValue], op: loop.YieldOp) -> None:
        """Join the score and the values that `op` yields into `results`."""
        (score, *sums), (mine, *others) = results, op.values
        kept, taken = (_OfScore(score, self.values, self.emit, name) for name in ("kept", "taken"))
        with self.values.nest(self._axes(score)):
            before = self.values.at(score)
            where = self.values.mask(op)
            (x,) = self.emit.masked([self.values.at(mine)], where, _SOFTMAX)
            largest, a, b = weights(before, x, self.emit.value)
            self.values.define([score], [largest])
            kept.set(a)
            taken.set(b)
        for result, value in zip(sums, others, strict=True):
            with self.values.nest(self._axes(result)):
                before = self.values.at(result)
                (g,) = self.emit.masked([self.values.at(value)], self.values.mask(op), _ADD)
                total = weighted(before, kept.get(), g, taken.get(), self.emit.value)
                total.name_hint = before.name_hint
                self.values.define([result], [total])

    def _axes(self, value: SSAValue) -> Sequence[SSAValue]:
        registers = self.values.registers
        return registers.ordered(registers.of([value]))


class _OfScore:
    """A number of the thread for each step of the register axes that a score depends on."""

    def __init__(self, score: SSAValue, values: ThreadValues, emitter: Emitter, name: str):
        self.score, self.values, self.emit, self.name = score, values, emitter, name
        self.value: SSAValue | None = None
        self.array: SSAValue | None = None
        registers = values.registers
        extents = [registers.extents[a] for a in registers.ordered(registers.of([score]))]
        if extents:
            self.array = emitter.value(RegistersOp(score.type, extents), name)

    def set(self, value: SSAValue) -> None:
        """Set the number at this step of the nest."""
        value.name_hint = self.name
        self.value = value
        if self.array is not None:
            self.emit.op(loop.StoreOp(value, self.array, self._place()))

    def get(self) -> SSAValue:
        """Return the number at this step of a nest over the same axes, and perhaps more."""
        if self.array is not None:
            return self.emit.value(loop.LoadOp(self.array, self._place()), self.name)
        assert self.value is not None
        return self.value

    def _place(self) -> Access:
        return self.values.subscripts(self.score)
