# SPDX-License-Identifier: Apache-2.0
"""
Axes of a launch for matrix instructions: each warp owns tiles of 16 rows by 8 columns.

    %tm = thread 64 m, %tn = thread 4 n, %vm = register 2 m, %vn = register 64 n

becomes

    %wm = warp 8 m, %lm = lane 8 m, %ln = lane 4 n, %sn = register 32 n, %rm = register 2 m,
    %vn = register 2 n

Tiles of a warp are apart, so that adjacent tiles are those of other warps. If warps multiply in
groups, the tiles of a warp, and those of the four warps, lie next to each other.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from tilewright.dialects import tile
from tilewright.dialects.axes import Role
from tilewright.dialects.matrix_instruction import LANES_M, LANES_N
from tilewright.dialects.tile.attributes import Level
from tilewright.passes.facts.memoised import held
from tilewright.passes.tile.rebind import NewAxis, Rebinding
from tilewright.passes.tile.register_tile_sides import Side, sides_of


@held
@contextmanager
def arranged(launch: tile.LaunchOp, *, grouped: bool) -> Generator[tile.LaunchOp]:
    """
    Context whose value is a copy of the launch with the axes that the instruction needs. The copy
    is erased afterwards unless the caller has inserted it.
    """
    new = _rebinding(launch, *sides_of(launch), grouped=grouped).rebound(launch)
    yield new
    if new.parent is None:
        new.erase()


def _rebinding(launch: tile.LaunchOp, m: Side, n: Side, *, grouped: bool) -> Rebinding:
    """
    Return a rebinding of the launch's axes in which each warp owns tiles of 16 rows by 8 columns.
    The tiles of a warpgroup lie next to each other.
    """
    rebinding = Rebinding()
    for axis in launch.axes_at(Level.BLOCK):
        rebinding.keep(axis)
    at = {side.role: AffineConstantExpr(0) + 0 for side in (m, n)}
    parts = {m.role: list[int](), n.role: list[int]()}
    warps = {Role.M: m.thread.extent // LANES_M, Role.N: n.thread.extent // LANES_N}

    def bind(name: str, level: Level, extent: int, side: Side, factor: int) -> None:
        if extent > 1:
            axis = rebinding.add(NewAxis(name, level, extent, side.role))
            at[side.role] = at[side.role] + axis * factor
            parts[side.role].append(axis.position)

    tiles = n.elements // 2
    if grouped:
        bind("wn", Level.WARP, warps[Role.N], n, 2 * LANES_N * tiles)
    bind("wm", Level.WARP, warps[Role.M], m, 2 * LANES_M)
    if not grouped:
        bind("wn", Level.WARP, warps[Role.N], n, 2 * LANES_N)
    bind("lm", Level.LANE, LANES_M, m, 1)
    bind("ln", Level.LANE, LANES_N, n, 2)
    for axis in launch.axes_at(Level.REGISTER):
        if axis not in (*m.axes, *n.axes):
            rebinding.keep(axis)
    bind("sm", Level.REGISTER, m.elements // 2, m, m.thread.extent * 2)
    bind("sn", Level.REGISTER, tiles, n, 2 * LANES_N if grouped else n.thread.extent * 2)
    bind("rm", Level.REGISTER, 2, m, LANES_M)
    bind("vn", Level.REGISTER, 2, n, 1)
    for side in (m, n):
        _substitute(rebinding, side, at[side.role], parts[side.role])
    return rebinding


def _substitute(rebinding: Rebinding, side: Side, at: AffineExpr, parts: Sequence[int]) -> None:
    """
    Replace the axes of a side by its new ones. Values that were joined across the side are joined
    across all new axes.
    """
    rebinding.substitute(side.axes, at, overruns=False)
    for axis in side.axes:
        rebinding.substitution.parts[axis.value] = []
    new = [rebinding.body.args[at] for at in parts]
    rebinding.substitution.parts[side.thread.value] = new
