# SPDX-License-Identifier: Apache-2.0
"""
Joins of values into the registers of a thread, where each value has its own register axes.

    %m, %s, %o = tile.combine %x, %y, %z across %b with softmax

Each group of results with equal axes has a nest. The weights of the others come from the score's:
here `%x` and `%y` depend on the register axis `%vm`, and `%z` on `%vn`, too.

    kernel.unroll %vm in 4 {
      %m' = max(%m[%vm], %x)      %a[%vm] = exp(%m[%vm] - %m')      %b[%vm] = exp(%x - %m')
      %s' = %s[%vm] * %a[%vm] + %y * %b[%vm]
    }
    kernel.unroll %vm in 4, %vn in 8 {
      %o' = %o[%vm, %vn] * %a[%vm] + %z * %b[%vm]
    }

Only `softmax` has more than one group.
"""

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import TypeVar

from xdsl.ir import SSAValue

from tilewright.dialects import loop
from tilewright.dialects.axes import Access
from tilewright.dialects.kernel.registers import RegistersOp
from tilewright.dialects.monoid import Monoid, MonoidAttr
from tilewright.passes.kernel.emitter import Emitter
from tilewright.passes.kernel.monoid_arith import weighted, weights
from tilewright.passes.kernel.thread_values import ThreadValues

_ADD = MonoidAttr(Monoid.ADD)

Item = TypeVar("Item")


class Group(tuple[int, ...]):
    """Positions of adjacent results that depend on the same register axes."""

    __slots__ = ()

    def of(self, items: Sequence[Item]) -> list[Item]:
        """Return the items at the positions of the group."""
        return [items[at] for at in self]

    def monoid(self, whole: MonoidAttr) -> MonoidAttr:
        """Return the monoid of the group: sums without their score are added."""
        return _ADD if whole.data is Monoid.SOFTMAX and 0 not in self else whole


class RegisterJoins:
    """Joins into the results of combines, in the registers of a thread."""

    def __init__(self, values: ThreadValues, emitter: Emitter):
        self.values, self.emit = values, emitter

    def groups(self, results: Sequence[SSAValue]) -> list[Group]:
        """Return the results in groups with equal register axes, the score of a softmax first."""
        found = groupby(range(len(results)), lambda at: self.axes(results[at]))
        return [Group(group) for _, group in found]

    def axes(self, value: SSAValue) -> Sequence[SSAValue]:
        """Return the register axes that a value depends on, if the thread does several steps."""
        return self.values.registers.ordered(self.values.registers.of([value]))

    def begin(self, results: Sequence[SSAValue], monoid: MonoidAttr) -> list[SSAValue]:
        """
        Initialise `results` with the identity. Results in register arrays are filled here. Return
        the initial values of the others, which a loop must carry.
        """
        carried: list[SSAValue] = []
        for group in self.groups(results):
            own, axes = group.of(results), self.axes(results[group[0]])
            if not axes:
                carried += self.emit.identities(group.monoid(monoid), own)
                continue
            with self.values.nest(axes):
                self.values.define(own, self.emit.identities(group.monoid(monoid), own))
        return carried

    def carried(self, results: Sequence[SSAValue]) -> list[SSAValue]:
        """Return the results that a loop must carry: all that are not in register arrays."""
        return [result for result in results if not self.axes(result)]

    def step(
        self,
        results: Sequence[SSAValue],
        monoid: MonoidAttr,
        carried: Sequence[SSAValue],
        others: Callable[[Group], Sequence[SSAValue]],
    ) -> list[SSAValue]:
        """
        Join `others(group)` into each group of `results`, in a loop whose step began with
        `carried`. Return the values for the next step to carry.
        """
        kept = self.carried(results)
        with self.values.scope():
            for result, value in zip(kept, carried, strict=True):
                self.values.set(result, value)
            self._join(results, monoid, others)
            return [self.values.at(result) for result in kept]

    def _join(
        self,
        results: Sequence[SSAValue],
        monoid: MonoidAttr,
        others: Callable[[Group], Sequence[SSAValue]],
    ) -> None:
        first, *rest = self.groups(results)
        own = first.of(results)
        if not rest:
            with self.values.nest(self.axes(own[0])):
                before, theirs = list(map(self.values.at, own)), others(first)
                self.put(own, self.emit.join(monoid, before, theirs))
            return
        kept, taken = (OfScore(own[0], self.values, self.emit, name) for name in ("kept", "taken"))
        with self.values.nest(self.axes(own[0])):
            (before, *sums), (score, *terms) = list(map(self.values.at, own)), others(first)
            largest, a, b = weights(before, score, self.emit.value)
            kept.set(a)
            taken.set(b)
            totals = (self._weighted(s, a, t, b) for s, t in zip(sums, terms, strict=True))
            self.put(own, [largest, *totals])
        for group in rest:
            own = group.of(results)
            with self.values.nest(self.axes(own[0])):
                pairs = zip(list(map(self.values.at, own)), others(group), strict=True)
                a, b = kept.get(), taken.get()
                self.put(own, [self._weighted(s, a, t, b) for s, t in pairs])

    def _weighted(self, s: SSAValue, a: SSAValue, t: SSAValue, b: SSAValue) -> SSAValue:
        return weighted(s, a, t, b, self.emit.value)

    def put(self, results: Sequence[SSAValue], values: Sequence[SSAValue]) -> None:
        """Set results to joined values, in register arrays if they have axes."""
        for result, value in zip(results, values, strict=True):
            if self.axes(result):
                self.values.define([result], [value])
            else:
                self.values.set(result, value)


class OfScore:
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
