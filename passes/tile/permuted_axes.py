# SPDX-License-Identifier: Apache-2.0
"""
Axes of an arranged register tile: those of its threads, by warps and lanes, and those of the rows
and columns in a thread's registers.
"""

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from tilewright.dialects.axes import Role
from tilewright.dialects.target import WARP_SIZE
from tilewright.dialects.tile.attributes import Level
from tilewright.passes.tile.rebind import NewAxis, Rebinding
from tilewright.passes.tile.register_tile_sides import Side, height_in_order


class Threads(NamedTuple):
    """Position of a thread along a side, and the axes that it is made of."""

    at: AffineExpr
    axes: Sequence[SSAValue]

    def bound(self, rebinding: Rebinding, axis: NewAxis, factor: int) -> "Threads":
        """Add an axis to the rebinding, and return the threads with this axis."""
        at = self.at + rebinding.add(axis) * factor
        return Threads(at, [*self.axes, rebinding.body.args[-1]])


def bind_threads(
    rebinding: Rebinding, m: Side, n: Side, lanes_m: int, fastest: Role
) -> dict[Role, Threads]:
    """
    Add the thread axes of both sides, and return the threads of each side. A warp is `lanes_m`
    threads high, and the axes of the side `fastest` come last. If warps have this height anyway,
    each side has a single thread axis; otherwise it has axes of warps and of lanes.
    """
    order = [m, n] if fastest is Role.N else [n, m]
    if lanes_m == height_in_order(m, n, fastest):
        lanes = {side.role: 0 for side in order}
    else:
        lanes = {Role.M: lanes_m, Role.N: WARP_SIZE // lanes_m}
    found = {side.role: Threads(AffineConstantExpr(0), []) for side in order}
    for level in (Level.WARP, Level.LANE):
        for side in order:
            found[side.role] = _bind_level(
                rebinding, side, level, lanes[side.role], found[side.role]
            )
    return found


def _bind_level(
    rebinding: Rebinding, side: Side, level: Level, lanes: int, before: Threads
) -> Threads:
    """
    Add the axis of the warps, or of the lanes in a warp, and return the threads of a side. If
    `lanes` is 0, the side has one axis of all threads.
    """
    if not lanes:
        axis = NewAxis(side.hint, Level.THREAD, side.thread.extent, side.role)
        return before.bound(rebinding, axis, 1) if level is Level.LANE else before
    extents = {Level.WARP: side.thread.extent // lanes, Level.LANE: lanes}
    if extents[level] == 1:
        return before
    axis = NewAxis(f"{level[0]}{side.role}", level, extents[level], side.role)
    return before.bound(rebinding, axis, lanes if level is Level.WARP else 1)


def keep_registers(rebinding: Rebinding, side: Side, threads: Threads) -> None:
    """Keep the register axes of a side, and substitute its thread axis."""
    for axis in side.axes:
        if axis is not side.thread:
            rebinding.keep(axis)
    rebinding.substitute([side.thread], threads.at, overruns=False)
    rebinding.substitution.parts[side.thread.value] = threads.axes


def bind_registers(rebinding: Rebinding, side: Side, vector: int, threads: Threads) -> None:
    """
    Split a side into strips of `vector`: `strip * reach + thread * vector + element`. Values that
    were joined across an axis of the side are joined across the whole side.
    """
    strips, reach = side.elements // vector, side.thread.extent * vector
    whole = Threads(threads.at * vector, threads.axes)
    for kind, extent, factor in (("s", strips, reach), ("v", vector, 1)):
        if extent > 1:
            axis = NewAxis(f"{kind}{side.role}", Level.REGISTER, extent, side.role)
            whole = whole.bound(rebinding, axis, factor)
    rebinding.substitute(side.axes, whole.at, overruns=False)
    for axis in side.axes:
        rebinding.substitution.parts[axis.value] = []
    rebinding.substitution.parts[side.thread.value] = whole.axes
