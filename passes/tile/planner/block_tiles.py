# SPDX-License-Identifier: Apache-2.0
"""Table of tiles that a block may own of a product, with the part of each thread."""

from typing import NamedTuple

from tilewright.passes.tile.planner.contraction import Contraction


class BlockTile(NamedTuple):
    """Part of the output that a block owns, and part of a thread."""

    m: int
    n: int
    fm: int
    """Rows of a thread."""
    fn: int
    """Columns of a thread."""
    registers: int
    """Registers of a thread, so that nothing is spilled."""
    issue_rate: float
    """Fraction of issue slots that multiply-adds get in the main loop."""

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return (self.m // self.fm) * (self.n // self.fn)

    @property
    def issue_rate_alone(self) -> float:
        """
        Fraction of its issue slots that a warp's multiply-adds get while it has them to itself:
        that depends on what a thread owns, and not on how many threads read a slab.
        """
        return _ISSUE_RATES_ALONE.get(self.fm * self.fn, self.issue_rate)


BLOCK_TILES = (
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
The issue rates of those from 32x32 on are fitted to 99 schedules of two products on an H200
(`benchmarks/results/nvidia-h200/tilings.json`); the others are guesses by their machine code: with
fewer elements a thread there are more loads of shared memory for each multiply-add.
"""

_ISSUE_RATES_ALONE = {
    elements: max(tile.issue_rate for tile in BLOCK_TILES if tile.fm * tile.fn == elements)
    for elements in sorted({tile.fm * tile.fn for tile in BLOCK_TILES})
}
"""Highest issue rates, by the elements of a thread."""

_SMALL = BlockTile(16, 16, 2, 4, 64, 0.42)
"""For products that have many of them: each a block of one warp."""

SMALLEST = BlockTile(16, 16, 2, 1, 40, 0.40)
"""For what is smaller than any of them, or joins more sums than a thread has registers for."""

ONE_EACH = BlockTile(16, 16, 1, 1, 40, 0.25)
"""A tile of which each thread has one element."""


def block_tiles_for(problem: Contraction) -> list[BlockTile]:
    """Return the block tiles that suit the sizes of a product; at least one."""
    suitable = [tile for tile in BLOCK_TILES if _suits(tile, problem)]
    if suitable and _suits(_SMALL, problem):
        suitable.append(_SMALL)
    return suitable or [SMALLEST]


def _suits(tile: BlockTile, problem: Contraction) -> bool:
    """True if half of the tile would cover less, and the tile is no splinter of the problem."""
    sides = ((tile.m, problem.m), (tile.n, problem.n))
    return all(min(size, 16) <= of_tile < 2 * size for of_tile, size in sides)
