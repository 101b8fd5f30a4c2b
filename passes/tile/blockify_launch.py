# SPDX-License-Identifier: Apache-2.0
"""
Splits the free axes of a launch into blocks and threads; each thread computes one element.

    tile.launch (%i = block 512 m, %j = block 2048 n) { ... %w[%k, %j] ... }

becomes, with `blockify-launch{m=16 n=16}`,

    tile.launch (%bm = block 32 m, %bn = block 128 n, %tm = thread 16 m, %tn = thread 16 n) {
      ... %w[%k, %bn * 16 + %tn] ...

A block of a contraction is a rectangle of `m` by `n` elements. With `raster`, blocks are ordered in
groups of rows: `blockify-launch{m=16 n=16 raster=8}` gives

    tile.launch (%bg = block 4 m, %bn = block 128 n, %br = block 8 m, %tm = thread 16 m, ...) {
      ... %x[%bg * 128 + %br * 16 + %tm, %k] ... %w[%k, %bn * 16 + %tn] ...

The last axis of blocks varies fastest. Without groups, 132 concurrent blocks read 2 rows and 128
columns of blocks. In groups of 8 rows, they read 8 rows and 17 columns, and share more in L2.

Rows of a convolution are positions in images. With `width`, the rows of a block are a rectangle of
one image: `blockify-launch{m=256 n=64 width=128}` takes 2 lines of 128 positions. The rectangle may
reach past the right and the lower end of the image. What it reads is then a box of the input, which
TMA can copy.

A block of any other launch is a line of `n` elements along all axes together. In a batch of
matrices of less than 32 elements each, blocks are lines too. Sizes that do not divide are masked. A
block may have more elements than a GPU allows threads, until `register-tile` gives each thread
several.

The bounds of reductions (`below`) become the same for all threads of a block. A block does no
chunks of a contraction if none of its results is used, as beyond the diagonal of causal attention's
scores.
"""

from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir.affine import AffineExpr
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilewright.dialects import tile
from tilewright.dialects.axes import Role
from tilewright.dialects.kernel_like import MAX_THREADS
from tilewright.dialects.target import WARP_SIZE
from tilewright.dialects.tile.attributes import Axis, Level
from tilewright.passes.facts.positions import positions_of
from tilewright.passes.reporting.trace import Rule
from tilewright.passes.tile.position_blocks import PositionBlocks, position_blocks
from tilewright.passes.tile.rebind import NewAxis, Rebinding, next_power_of_two, total_extent
from tilewright.passes.tile.row_facts import is_contraction
from tilewright.passes.tile.scheduling_decision import Questions
from tilewright.passes.tile.scheduling_pass import SchedulingPass
from tilewright.passes.tile.unneeded_steps import leave_out_unneeded_steps

_LONGEST_SIDE, _LONGEST_LINE = 256, 4096
"""
Largest side of a rectangular block, and most elements of a block that is a line, among the offered
sizes.
"""

_RASTERS = (2, 4, 8, 16)
"""Offered rows of blocks in a group."""

_WIDTHS = (16, 32, 64, 128, 256)
"""Offered positions of a line in a block."""


@dataclass(frozen=True)
class BlockifyLaunchPass(SchedulingPass, RewritePattern):
    """Split free axes into blocks and threads."""

    name = "blockify-launch"
    RULE: ClassVar[Rule] = Rule("t", 5, "blockify_launch")

    m: int | None = None
    """Number of rows of a contraction in a block."""
    n: int | None = None
    """Number of columns of a contraction in a block, or of elements of any other launch."""
    raster: int | None = None
    """Number of rows of blocks in a group; blocks run group by group. One row by default."""

    width: int | None = None
    """Positions of each line in a block of a convolution; by default, blocks cross lines."""

    def reason_against(self, launch: tile.LaunchOp) -> str | None:
        if any(axis.level is not Level.BLOCK for axis in launch.bound_axes()):
            return "its axes are bound already"
        if not axes_to_split(launch):
            return "it has one element: one thread does it"
        if tile.stages_of(launch):
            return "its slabs would differ between the threads of a block"
        return None

    def questions(self, launch: tile.LaunchOp) -> Questions:
        """
        Return the values of `m` and `n` that are offered: powers of two, up to the rows and columns
        of the launch rounded up, or up to a warp if they are fewer. Groups have a few rows of
        blocks.
        """
        if not is_rectangular(launch):
            return {"n": _powers_up_to(_LONGEST_LINE, total_extent(axes_to_split(launch)))}
        rows, columns = (extent_along(launch, role) for role in (Role.M, Role.N))
        sides = {"m": rows, "n": columns}
        offered = {side: _powers_up_to(_LONGEST_SIDE, extent) for side, extent in sides.items()}
        found: Questions = {**offered, "raster": (None, *_RASTERS)}
        return found if positions_of(launch) is None else {**found, "width": (None, *_WIDTHS)}

    def reason_not_possible(self, launch: tile.LaunchOp) -> str | None:
        if not is_rectangular(launch) and self.m not in (None, 1):
            return f"m={self.m} is for contractions; a block of this launch is a line of n elements"
        m, n = self._extents()
        if m < 1 or n < 1:
            return f"a block has one element or more, not m={m} by n={n}"
        most = MAX_THREADS * self.gpu.max_registers_per_thread
        if m * n > most:
            return f"the registers of {MAX_THREADS} threads hold {most} elements, not {m * n}"
        return self._reason_not_arranged(launch, m)

    def _reason_not_arranged(self, launch: tile.LaunchOp, m: int) -> str | None:
        """Reason against `raster` and `width`, or None."""
        given = {"raster": self.raster, "width": self.width}
        option = next((f"{name}={n}" for name, n in given.items() if n is not None), None)
        if option is None:
            return None
        if not is_rectangular(launch):
            return f"{option} is for contractions; the blocks of this launch have no rows"
        if isinstance(blocks := self._blocks(launch), str):
            return blocks
        rows = _rows_of_blocks(launch, m, blocks)
        if self.raster is not None and (self.raster < 1 or rows % self.raster):
            return f"{rows} rows of blocks are no groups of {self.raster}"
        return None

    def _blocks(self, launch: tile.LaunchOp) -> PositionBlocks | str | None:
        """
        Return the blocks that are rectangles of an image, or the reason why there are none; None if
        blocks cross lines.
        """
        if self.width is None:
            return None
        return position_blocks(launch, self._extents()[0], self.width)

    def _extents(self) -> tuple[int, int]:
        assert self.n is not None
        return 1 if self.m is None else self.m, self.n

    @op_type_rewrite_pattern
    def match_and_rewrite(self, launch: tile.LaunchOp, rewriter: PatternRewriter) -> None:
        rebinding, (m, n) = Rebinding(), self._extents()
        if is_rectangular(launch):
            blocks = self._blocks(launch)
            assert not isinstance(blocks, str)
            launch = launch if blocks is None else blocks.split(launch, rewriter)
            _split_into_rectangles(rebinding, launch, m, n, self.raster or 1, blocks)
        else:
            _split_into_lines(rebinding, launch, n)
        leave_out_unneeded_steps(rebinding.finish(launch, rewriter), rewriter)


def _powers_up_to(longest: int, extent: int) -> list[int]:
    """
    Return the powers of two from 1 to `extent` rounded up, at least to 32 and at most to `longest`.
    """
    most = min(longest, max(next_power_of_two(extent), WARP_SIZE))
    return [1 << n for n in range(most.bit_length())]


def axes_to_split(launch: tile.LaunchOp) -> list[Axis]:
    """
    Return the axes of the launch that become blocks and threads, in order: all except those that
    split a reduction.
    """
    return [axis for axis in launch.bound_axes() if axis.role is not Role.SPLIT]


def is_rectangular(launch: tile.LaunchOp) -> bool:
    """True if the blocks of the launch are rectangles of one matrix each, rather than lines."""
    batch = extent_along(launch, Role.BATCH)
    matrix = total_extent(axis for axis in axes_to_split(launch) if axis.role is not Role.BATCH)
    return is_contraction(launch) and (batch == 1 or matrix >= WARP_SIZE)


def extent_along(launch: tile.LaunchOp, role: Role) -> int:
    return total_extent(axis for axis in launch.bound_axes() if axis.role is role)


def _split_into_rectangles(
    rebinding: Rebinding,
    launch: tile.LaunchOp,
    m: int,
    n: int,
    raster: int,
    blocks: PositionBlocks | None,
) -> None:
    axes = launch.bound_axes()
    rows = [axis for axis in axes if axis.role is Role.M]
    columns = [axis for axis in axes if axis.role is Role.N]
    for role in (Role.SPLIT, Role.BATCH):
        for axis in axes:
            if axis.role is role:
                rebinding.keep(axis)
    bm, bn = _add_blocks(
        rebinding, _rows_of_blocks(launch, m, blocks), -(-total_extent(columns) // n), raster
    )
    tm = rebinding.add(NewAxis("tm", Level.THREAD, m, Role.M))
    tn = rebinding.add(NewAxis("tn", Level.THREAD, n, Role.N))
    if blocks is None:
        rebinding.substitute(rows, bm * m + tm, overruns=total_extent(rows) % m != 0)
    else:
        blocks.substitute(rebinding, rows, bm, tm)
    rebinding.substitute(columns, bn * n + tn, overruns=total_extent(columns) % n != 0)


def _rows_of_blocks(launch: tile.LaunchOp, m: int, blocks: PositionBlocks | None) -> int:
    return -(-extent_along(launch, Role.M) // m) if blocks is None else blocks.total


def _add_blocks(
    rebinding: Rebinding, rows: int, columns: int, raster: int
) -> tuple[AffineExpr, AffineExpr]:
    """
    Add axes for rows and columns of blocks, in groups of `raster` rows, and return the row and the
    column of a block.
    """
    if raster == 1:
        bm = rebinding.add(NewAxis("bm", Level.BLOCK, rows, Role.M))
        return bm, rebinding.add(NewAxis("bn", Level.BLOCK, columns, Role.N))
    bg = rebinding.add(NewAxis("bg", Level.BLOCK, rows // raster, Role.M))
    bn = rebinding.add(NewAxis("bn", Level.BLOCK, columns, Role.N))
    br = rebinding.add(NewAxis("br", Level.BLOCK, raster, Role.M))
    return bg * raster + br, bn


def _split_into_lines(rebinding: Rebinding, launch: tile.LaunchOp, n: int) -> None:
    parted = axes_to_split(launch)
    for axis in launch.bound_axes():
        if axis not in parted:
            rebinding.keep(axis)
    total, role = total_extent(parted), parted[0].role
    block = rebinding.add(NewAxis("b", Level.BLOCK, -(-total // n), role))
    thread = rebinding.add(NewAxis("t", Level.THREAD, n, role))
    rebinding.substitute(parted, block * n + thread, overruns=total % n != 0)
