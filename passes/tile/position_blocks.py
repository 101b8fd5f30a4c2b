# SPDX-License-Identifier: Apache-2.0
"""
Blocks of rows that are rectangles of an image, for convolutions.

    tile.launch (%i = block 2048256 m, %j = block 64 n) {     8 images of 508 lines of 504 positions
      %sum = loop.reduce %k in 32 with add {
        %0 = loop.load %x[%i floordiv 256032, %k, (%i floordiv 504) mod 508, %i mod 504 + 8]

becomes, for blocks of 2 lines of 128 positions,

    tile.launch (%bm = block 8128 m, %bn = block 1 n, %tm = thread 256 m, %tn = thread 64 n) {
      %sum = loop.reduce %k in 32 with add {
        %0 = loop.load %x[%bm floordiv 1016, %k, (%bm floordiv 4) mod 254 * 2 + %tm floordiv 128,
                          %bm mod 4 * 128 + %tm mod 128 + 8]
                      where [503 - %bm mod 4 * 128 - %tm mod 128]

A block may reach past the right and the lower end of its image. The sums there are not stored, so
that it does not matter what they add: loads are masked by the bounds of `%x` alone.
"""

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from xdsl.ir import Operation
from xdsl.ir.affine import AffineExpr
from xdsl.pattern_rewriter import PatternRewriter

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Role
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.index import delinearize, linearize
from tilewright.dialects.tile.attributes import Axis
from tilewright.passes.facts.positions import Positions, positions_of
from tilewright.passes.tile.rebind import NewAxis, Rebinding


class PositionBlocks(NamedTuple):
    """Blocks whose rows are `lines` lines of `width` positions in an image."""

    positions: Positions
    lines: int
    width: int

    @property
    def counts(self) -> tuple[int, int, int]:
        """Numbers of images, and of blocks down and across an image."""
        return self.positions.images.blocks(self.lines, self.width)

    @property
    def total(self) -> int:
        """Number of blocks."""
        return prod(self.counts)

    def split(self, launch: tile.LaunchOp, rewriter: PatternRewriter) -> tile.LaunchOp:
        """Replace the axis for rows by three: for images, lines and positions in a line."""
        rebinding, (counted, extents) = Rebinding(), self.positions
        for axis in launch.bound_axes():
            if axis.value is not counted.value:
                rebinding.keep(axis)
                continue
            names = zip(("image", "line", "position"), extents, strict=True)
            new = [rebinding.add(NewAxis(name, axis.level, n, Role.M)) for name, n in names]
            rebinding.substitute([axis], linearize(new, extents), overruns=False)
        return rebinding.finish(launch, rewriter)

    def substitute(
        self, rebinding: Rebinding, rows: Sequence[Axis], block: AffineExpr, row: AffineExpr
    ) -> None:
        """Replace the axes for images, lines and positions by the row `row` of a block."""
        images, lines, positions = rows
        image, down, across = delinearize(block, self.counts)
        line, position = (
            down * self.lines + row // self.width,
            across * self.width + row % self.width,
        )
        rebinding.substitute([images], image, overruns=False)
        for axis, at, step in ((lines, line, self.lines), (positions, position, self.width)):
            rebinding.substitute([axis], at, overruns=axis.extent % step != 0, unneeded=True)


def position_blocks(launch: tile.LaunchOp, m: int, width: int) -> PositionBlocks | str:
    """
    Return the blocks of `m` rows that are lines of `width` positions, or the reason why there are
    none.
    """
    positions = positions_of(launch)
    if positions is None:
        return f"width={width} is for convolutions; rows of this launch are no lines of positions"
    if any(_depends_on_data(op) for op in ops_in(launch) if op.parent_op() is not launch):
        return f"width={width} needs sums without indices from data, and without conditions"
    if width < 1 or m % width:
        return f"m={m} rows are no lines of {width}"
    return PositionBlocks(positions, m // width, width)


def _depends_on_data(op: Operation) -> bool:
    return isinstance(op, loop.ToIndexOp | loop.PredicateOp)
