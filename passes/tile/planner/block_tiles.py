# SPDX-License-Identifier: Apache-2.0
"""Table of the tiles of a product that a block may own, with the part of each thread."""

from typing import NamedTuple

from tilewright.dialects.matrix_instruction import (
    GROUP_WARPS,
    LANES_M,
    LANES_N,
    MatrixInstruction,
)
from tilewright.passes.tile.planner.contraction import Contraction


class BlockTile(NamedTuple):
    """
    Rectangle of `m` by `n` elements of the output that a block owns, and the part of each thread.
    """

    m: int
    n: int
    fm: int
    """Rows that each thread owns."""
    fn: int
    """Columns that each thread owns."""
    registers: int
    """Registers that a thread needs so that none is spilled."""
    issue_rate: float
    """
    Fraction of issue slots that multiply-adds get in the main loop. Of a matrix tile, the fraction
    of clocks in which the tensor cores, or else shared memory, are busy.
    """
    is_matrix: bool = False
    """True if matrix instructions multiply; `fm` by 8 rows and `fn` by 4 columns are a warp's."""
    is_grouped: bool = False
    """True if warpgroups multiply together; each has all columns of the block."""

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return (self.m // self.fm) * (self.n // self.fn)

    @property
    def issue_rate_alone(self) -> float:
        """
        Fraction of its issue slots that a warp's multiply-adds get while no other warp competes. It
        depends on what a thread owns, not on the number of threads that read a slab.
        """
        if self.is_matrix:
            return self.issue_rate
        return _ISSUE_RATES_ALONE.get(self.fm * self.fn, self.issue_rate)


BLOCK_TILES = (
    BlockTile(128, 256, 8, 16, 255, 0.83),
    BlockTile(256, 128, 16, 8, 255, 0.83),
    BlockTile(128, 128, 8, 8, 128, 0.76),
    BlockTile(128, 64, 8, 4, 96, 0.79),
    BlockTile(64, 128, 4, 8, 96, 0.75),
    BlockTile(64, 64, 8, 4, 96, 0.83),
    BlockTile(64, 64, 4, 4, 64, 0.71),
    BlockTile(32, 128, 4, 8, 96, 0.80),
    BlockTile(32, 128, 8, 4, 96, 0.80),
    BlockTile(128, 32, 8, 4, 96, 0.80),
    BlockTile(32, 64, 4, 4, 64, 0.75),
    BlockTile(64, 32, 4, 4, 64, 0.75),
    BlockTile(32, 32, 2, 4, 64, 0.52),
    BlockTile(16, 128, 2, 8, 64, 0.70),
    BlockTile(128, 16, 4, 4, 64, 0.70),
    BlockTile(16, 64, 2, 4, 64, 0.60),
    BlockTile(64, 16, 2, 4, 64, 0.60),
    BlockTile(16, 32, 2, 4, 64, 0.50),
    BlockTile(32, 16, 4, 2, 64, 0.50),
    BlockTile(8, 128, 1, 8, 64, 0.55),
    BlockTile(128, 8, 8, 1, 64, 0.55),
    BlockTile(4, 128, 1, 4, 64, 0.45),
    BlockTile(1, 128, 1, 1, 40, 0.25),
    BlockTile(128, 1, 1, 1, 40, 0.25),
)
"""
Block tiles with their issue rates. The rates of the rows from 128x128 down to 32x32 are fitted to
99 schedules of two products on an H200 (`benchmarks/results/nvidia-h200/tilings.json`). The others
are guesses from the machine code: with fewer elements a thread, there are more loads of shared
memory for each multiply-add. From 8x8 to 8x16 elements, instructions beside a multiply-add fall
from 0.10 to 0.06, and the time beside multiply-adds falls in proportion.
"""

_BUSY = 0.8
"""
Busy fraction of the busier of tensor cores and shared memory. It is a guess from a model of the
machine code, which gives 0.74 to 0.81.
"""


_BUSY_SPLITTING = 0.67
"""Busy fraction for products that are split into three, whose rate has not been measured."""


def _matrix_tile(
    m: int, n: int, warp_m: int, warp_n: int, registers: int, busy: float = _BUSY
) -> BlockTile:
    """Return a tile of `m` by `n` elements, of which a warp has `warp_m` by `warp_n`."""
    return BlockTile(m, n, warp_m // LANES_M, warp_n // LANES_N, registers, busy, is_matrix=True)


MATRIX_TILES = (
    _matrix_tile(128, 256, 64, 64, 240),
    _matrix_tile(256, 128, 64, 64, 240),
    _matrix_tile(128, 128, 64, 64, 240),
    _matrix_tile(128, 128, 64, 32, 128),
    _matrix_tile(64, 256, 64, 64, 240),
    _matrix_tile(64, 128, 32, 64, 128),
    _matrix_tile(128, 64, 64, 32, 128),
    _matrix_tile(64, 64, 32, 32, 96),
    _matrix_tile(32, 128, 32, 32, 96),
    _matrix_tile(128, 32, 32, 32, 96),
    _matrix_tile(32, 64, 16, 32, 64),
    _matrix_tile(64, 32, 32, 16, 64),
    _matrix_tile(32, 32, 16, 16, 64),
    _matrix_tile(16, 128, 16, 32, 64),
    _matrix_tile(128, 16, 32, 16, 64),
    _matrix_tile(16, 64, 16, 16, 64),
    _matrix_tile(64, 16, 16, 16, 64),
    _matrix_tile(16, 32, 16, 16, 64),
)
"""Block tiles whose products matrix instructions add."""


def _group_tile(m: int, n: int, groups: int, registers: int) -> BlockTile:
    """Return a tile of `m` by `n` elements, of which each of some warpgroups has equal rows."""
    rows = m // (groups * GROUP_WARPS)
    return _matrix_tile(m, n, rows, n, registers)._replace(is_grouped=True)


GROUP_TILES = (
    _group_tile(128, 256, 2, 168),
    _group_tile(256, 128, 2, 168),
    _group_tile(128, 128, 2, 104),
    _group_tile(128, 128, 1, 168),
    _group_tile(64, 256, 1, 168),
    _group_tile(64, 128, 1, 104),
    _group_tile(128, 64, 2, 72),
    _group_tile(128, 64, 1, 104),
    _group_tile(64, 64, 1, 72),
    _group_tile(64, 32, 1, 56),
    _group_tile(64, 16, 1, 48),
)
"""
Block tiles whose products warpgroups add. Of the fraction of clocks that tensor cores are busy,
they have the guess for other matrix tiles: by the clock of kernels, 128x256 tiles of 4096^3 reach
0.83 beside the constant of each chunk.
"""

SPLIT_TILES = (
    _matrix_tile(128, 128, 64, 32, 250, _BUSY_SPLITTING),
    _matrix_tile(128, 64, 64, 32, 250, _BUSY_SPLITTING),
    _matrix_tile(64, 128, 32, 32, 160, _BUSY_SPLITTING),
    _matrix_tile(64, 64, 32, 32, 160, _BUSY_SPLITTING),
    _matrix_tile(32, 128, 32, 32, 160, _BUSY_SPLITTING),
    _matrix_tile(64, 64, 16, 32, 104, _BUSY_SPLITTING),
    _matrix_tile(32, 64, 16, 32, 104, _BUSY_SPLITTING),
    _matrix_tile(16, 128, 16, 32, 104, _BUSY_SPLITTING),
)
"""Block tiles with more registers, for products of float32 that are split into three."""

_ISSUE_RATES_ALONE = {
    elements: max(tile.issue_rate for tile in BLOCK_TILES if tile.fm * tile.fn == elements)
    for elements in sorted({tile.fm * tile.fn for tile in BLOCK_TILES})
}
"""Highest issue rate for each number of elements that a thread has."""

_SMALL = BlockTile(16, 16, 2, 4, 64, 0.42)
"""Tile of a block of one warp, for products that have many of these tiles."""

SMALLEST = BlockTile(16, 16, 2, 1, 40, 0.40)
"""
Fallback tile for products smaller than any other tile, or with more sums than a thread has
registers.
"""

ONE_EACH = BlockTile(16, 16, 1, 1, 40, 0.25)
"""Tile of which each thread has one element."""


def block_tiles_for(problem: Contraction) -> list[BlockTile]:
    """Return the block tiles that suit the sizes of a product; at least one."""
    suitable = [tile for tile in BLOCK_TILES if _suits(tile, problem)]
    if suitable and _suits(_SMALL, problem):
        suitable.append(_SMALL)
    is_split = problem.instruction is MatrixInstruction.M16N8K8_TF32X3
    tiles = SPLIT_TILES if is_split else MATRIX_TILES
    tiles = (*GROUP_TILES, *tiles) if problem.by_groups else tiles
    matrix = [tile for tile in tiles if _is_for(tile, problem)]
    return [*matrix, *(suitable or [SMALLEST])]


def _is_for(tile: BlockTile, problem: Contraction) -> bool:
    """
    True if matrix instructions do the product, and each side of the tile is 16, or less than twice
    the problem's side.
    """
    sides = ((tile.m, problem.m), (tile.n, problem.n))
    return problem.instruction is not None and all(
        of_tile == 16 or of_tile < 2 * size for of_tile, size in sides
    )


def _suits(tile: BlockTile, problem: Contraction) -> bool:
    """
    True if each side of the tile is less than twice the problem's side. Each must also be at least
    16 long, or as long as the problem's side if that is shorter.
    """
    sides = ((tile.m, problem.m), (tile.n, problem.n))
    return all(min(size, 16) <= of_tile < 2 * size for of_tile, size in sides)
