# SPDX-License-Identifier: Apache-2.0
"""
Joining a value across threads of a block, so that each of them has the result.

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

    def combine(self, monoid: MonoidAttr, value: SSAValue, across: Sequence[SSAValue]) -> SSAValue:
        """`value` joined across the axes in `across`."""
        joined = [axis.value in across for axis in self.axes]
        width = prod(a.extent for a, j in zip(self.axes, joined, strict=True) if j)
        match join_across(self.axes, across):
            case Join.NONE:
                return value
            case Join.SHUFFLE:
                return self._butterfly(monoid, value, width)
            case Join.WARPS:
                return self._warps(monoid, self._butterfly(monoid, value, WARP_SIZE), width)
            case Join.SHARED:
                return self._through_shared(monoid, value, joined)

    def _butterfly(self, monoid: MonoidAttr, value: SSAValue, width: int) -> SSAValue:
        """Every lane of each `width` lanes that lie side by side has the result."""
        offset = width // 2
        while offset:
            shuffle = kernel.ShuffleOp(ShuffleMode.XOR, value, offset, width)
            value = self.emit.join(monoid, value, self.emit.value(shuffle, "other"))
            offset //= 2
        return value

    def _warps(self, monoid: MonoidAttr, value: SSAValue, width: int) -> SSAValue:
        """The values of `width // 32` warps that lie side by side, through shared memory."""
        warps, group = self.threads // WARP_SIZE, width // WARP_SIZE
        partial = self._shared(value, warps)
        with self.emit.guarded(([_D0 % WARP_SIZE * -1], [self.thread])):
            slot = ([_D0 // WARP_SIZE], [self.thread])
            self.emit.op(loop.StoreOp(value, partial, slot))
        self.emit.op(kernel.BarrierOp())
        return self._fold(monoid, value, partial, group, _D0 // width * group + _D1)

    def _through_shared(
        self, monoid: MonoidAttr, value: SSAValue, joined: Sequence[bool]
    ) -> SSAValue:
        """Each thread leaves its value in a slot of its own, and reads all it joins."""
        slots = self._shared(value, self.threads)
        self.emit.op(loop.StoreOp(value, slots, ([_D0], [self.thread])))
        self.emit.op(kernel.BarrierOp())
        extents = [axis.extent for axis in self.axes]
        across = [e for e, j in zip(extents, joined, strict=True) if j]
        own = delinearize(_D0, extents)
        other = iter(delinearize(_D1, across))
        mixed = [next(other) if j else mine for mine, j in zip(own, joined, strict=True)]
        return self._fold(monoid, value, slots, prod(across), linearize(mixed, extents))

    def _fold(
        self,
        monoid: MonoidAttr,
        like: SSAValue,
        slots: SSAValue,
        steps: int,
        slot: AffineExpr,
    ) -> SSAValue:
        """The slots at `slot` of (thread, step), joined over the steps."""

        def body(step: SSAValue, carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
            load = loop.LoadOp(slots, ([slot], [self.thread, step]))
            return [self.emit.join(monoid, carried[0], self.emit.value(load))]

        (result,) = self.emit.loop(steps, [self.emit.identity(monoid, like)], body, "w")
        if self.emit.depth:
            self.emit.op(kernel.BarrierOp())
        return result

    def _shared(self, like: SSAValue, size: int) -> SSAValue:
        type = MemRefType(like.type, [size], memory_space=SHARED)
        return self.emit.value(kernel.SharedOp(type), "partial")
