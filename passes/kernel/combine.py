# SPDX-License-Identifier: Apache-2.0
"""
Joining values across threads of a block, so that each of them has the results.

Threads that lie side by side in warps join by butterfly shuffles, whole warps further through
shared memory. Anything else goes through shared memory altogether: slower, but right for any
number of threads along any axes.
"""

from collections.abc import Sequence
from enum import Enum, auto
from math import prod

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import kernel, loop
from tilewright.dialects.index import delinearize, linearize
from tilewright.dialects.kernel import WARP_SIZE, ShuffleMode
from tilewright.dialects.monoid import MonoidAttr
from tilewright.dialects.tile import SHARED
from tilewright.dialects.tile_axes import Axis
from tilewright.passes.kernel.emitter import Emitter

_D0, _D1 = AffineExpr.dimension(0), AffineExpr.dimension(1)


class Join(Enum):
    """How threads join their values."""

    NONE = auto()
    """Each has its own already."""
    SHUFFLE = auto()
    """Within segments of a warp."""
    WARPS = auto()
    """Within warps, then one slot of shared memory for each warp."""
    SHARED = auto()
    """One slot of shared memory for each thread."""


def join_across(axes: Sequence[Axis], across: Sequence[SSAValue]) -> Join:
    """How threads along `axes`, the last fastest, join across those of them in `across`."""
    joined = [axis.value in across for axis in axes]
    threads = prod(axis.extent for axis in axes)
    width = prod(a.extent for a, j in zip(axes, joined, strict=True) if j)
    if width == 1:
        return Join.NONE
    is_fastest = joined == sorted(joined)
    if not is_fastest or threads % WARP_SIZE:
        return Join.SHARED
    if width <= WARP_SIZE and width & (width - 1) == 0:
        return Join.SHUFFLE
    return Join.WARPS if width % WARP_SIZE == 0 else Join.SHARED


class ThreadCombine:
    """Joins across some of a launch's thread axes."""

    def __init__(self, emitter: Emitter, thread: SSAValue, axes: Sequence[Axis]):
        self.emit, self.thread, self.axes = emitter, thread, axes
        self.threads = prod(axis.extent for axis in axes)

    def combine(
        self, monoid: MonoidAttr, values: Sequence[SSAValue], across: Sequence[SSAValue]
    ) -> list[SSAValue]:
        """`values` joined across the axes in `across`."""
        joined = [axis.value in across for axis in self.axes]
        width = prod(a.extent for a, j in zip(self.axes, joined, strict=True) if j)
        match join_across(self.axes, across):
            case Join.NONE:
                return list(values)
            case Join.SHUFFLE:
                return self._butterfly(monoid, values, width)
            case Join.WARPS:
                return self._warps(monoid, self._butterfly(monoid, values, WARP_SIZE), width)
            case Join.SHARED:
                return self._through_shared(monoid, values, joined)

    def _butterfly(
        self, monoid: MonoidAttr, values: Sequence[SSAValue], width: int
    ) -> list[SSAValue]:
        """Every lane of each `width` lanes that lie side by side has the result."""
        joined, offset = list(values), width // 2
        while offset:
            shuffles = [kernel.ShuffleOp(ShuffleMode.XOR, v, offset, width) for v in joined]
            others = [self.emit.value(shuffle, "other") for shuffle in shuffles]
            joined = self.emit.join(monoid, joined, others)
            offset //= 2
        return joined

    def _warps(self, monoid: MonoidAttr, values: Sequence[SSAValue], width: int) -> list[SSAValue]:
        """The values of `width // 32` warps that lie side by side, through shared memory."""
        warps, group = self.threads // WARP_SIZE, width // WARP_SIZE
        partials = [self._shared(value, warps) for value in values]
        with self.emit.guarded(([_D0 % WARP_SIZE * -1], [self.thread])):
            self._leave(values, partials, _D0 // WARP_SIZE)
        self.emit.op(kernel.BarrierOp())
        return self._fold(monoid, values, partials, group, _D0 // width * group + _D1)

    def _through_shared(
        self, monoid: MonoidAttr, values: Sequence[SSAValue], joined: Sequence[bool]
    ) -> list[SSAValue]:
        """Each thread leaves its values in slots of its own, and reads all it joins."""
        slots = [self._shared(value, self.threads) for value in values]
        self._leave(values, slots, _D0)
        self.emit.op(kernel.BarrierOp())
        extents = [axis.extent for axis in self.axes]
        across = [e for e, j in zip(extents, joined, strict=True) if j]
        own = delinearize(_D0, extents)
        other = iter(delinearize(_D1, across))
        mixed = [next(other) if j else mine for mine, j in zip(own, joined, strict=True)]
        return self._fold(monoid, values, slots, prod(across), linearize(mixed, extents))

    def _leave(
        self, values: Sequence[SSAValue], slots: Sequence[SSAValue], slot: AffineExpr
    ) -> None:
        """Store each value at `slot` of the thread."""
        for value, memref in zip(values, slots, strict=True):
            self.emit.op(loop.StoreOp(value, memref, ([slot], [self.thread])))

    def _fold(
        self,
        monoid: MonoidAttr,
        like: Sequence[SSAValue],
        slots: Sequence[SSAValue],
        steps: int,
        slot: AffineExpr,
    ) -> list[SSAValue]:
        """The slots at `slot` of (thread, step), joined over the steps."""

        def body(step: SSAValue, carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
            loads = [loop.LoadOp(memref, ([slot], [self.thread, step])) for memref in slots]
            return self.emit.join(monoid, carried, [self.emit.value(load) for load in loads])

        results = self.emit.loop(steps, self.emit.identities(monoid, like), body, "w")
        if self.emit.depth:
            self.emit.op(kernel.BarrierOp())
        return results

    def _shared(self, like: SSAValue, size: int) -> SSAValue:
        type = MemRefType(like.type, [size], memory_space=SHARED)
        return self.emit.value(kernel.SharedOp(type), "partial")
