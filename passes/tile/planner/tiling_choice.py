# SPDX-License-Identifier: Apache-2.0
"""
All tilings of a contraction among blocks, the fastest first by the model in `tiling.py`.

The tile, the length of a chunk, the split of K and the number of slots depend on each other. These
four numbers share the memory and the registers of a block, and determine the number of blocks.
Therefore the planner compares every combination of rows of `BLOCK_TILES` (`block_tiles.py`) with a
few chunks, splits and depths.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product

from tilewright.dialects.kernel_like import MAX_CLUSTER
from tilewright.dialects.target import Target
from tilewright.dialects.tile import Join
from tilewright.dialects.types import size_of
from tilewright.passes.cost.time_models import time_bucket
from tilewright.passes.tile.double_buffer import DEPTHS
from tilewright.passes.tile.planner.block_tiles import (
    ONE_EACH,
    SMALLEST,
    BlockTile,
    block_tiles_for,
)
from tilewright.passes.tile.planner.contraction import Contraction
from tilewright.passes.tile.planner.tiling import Tiling
from tilewright.passes.tile.split_matmul_k import FACTORS
from tilewright.passes.tile.usual_sizes import SHORTEST_SPLIT

CHUNKS = (8, 16, 32)
"""Steps of K that are staged together."""

MATRIX_CHUNKS = (16, 32, 64)
"""Steps of K that are staged together for matrix instructions, which do 16 at once."""

_ROW_BYTES = 128
"""Usual bytes of K in a row of a slab for matrix instructions, the widest span of a swizzle."""

SPLITS = (1, *FACTORS)
"""Numbers of blocks that may split the steps of K."""

FEWEST_ELEMENTS = Tiling(ONE_EACH, CHUNKS[0], 1, DEPTHS[0])
"""
Fallback tiling with one element a thread, for kernels whose work needs too many registers for more.
"""


def tilings(problem: Contraction, target: Target) -> Sequence[Tiling]:
    """
    Return the possible tilings, the fastest first. Tilings that leave SMs idle are considered only
    if all tilings do, or if they have matrix tiles.
    """
    combinations = _combinations(problem, target, block_tiles_for(problem))
    possible = [tiling for tiling in combinations if tiling.fits(problem, target)]
    # register needs are an estimate: for many sums, the tile with two elements a thread is kept
    possible = possible or [*_combinations(problem, target, [SMALLEST])]
    considered = [
        ordered
        for tiling in _busy(possible, problem, target)
        for ordered in _in_orders(tiling, problem, target)
    ]
    return sorted(considered, key=lambda t: _preference(t, problem, target))


@lru_cache  # the same products recur in every layer of a model
def fastest_tiling(problem: Contraction, target: Target) -> Tiling:
    """
    Return the first of `tilings`, without computing all their times. Tilings are tried by
    increasing lower bound. The search ends when a lower bound exceeds the best time.
    """
    shallow = [
        tiling
        for tiling in _shallow(problem, target, block_tiles_for(problem))
        if tiling.fits(problem, target)
    ]
    for considered in (_busy(shallow, problem, target), shallow):
        if (best := _fastest(considered, problem, target)) is not None:
            return best
    return tilings(problem, target)[0]


def _busy(tilings: Sequence[Tiling], problem: Contraction, target: Target) -> Sequence[Tiling]:
    """
    Return the tilings that leave no SM idle, and those with matrix tiles; all tilings if each
    leaves some idle. Large matrix tiles may leave a few idle: smaller ones take more clocks to read
    shared memory.
    """
    busy = {t for t in tilings if t.blocks(problem) >= target.sms}
    return [t for t in tilings if not busy or t in busy or t.tile.is_matrix]


def _fastest(shallow: Sequence[Tiling], problem: Contraction, target: Target) -> Tiling | None:
    """
    Return the best tiling that fits, with any number of slots, the first of equals; None if none
    fits.
    """
    least = [(t.least_seconds(problem, target), at, t) for at, t in enumerate(shallow)]
    best: tuple[tuple[float, ...], Tiling] | None = None
    for seconds, at, tiling in sorted(least):
        if best is not None and _about(seconds) > best[0][0]:
            break
        fitting = (t for t in _deepened(tiling, problem) if t.fits(problem, target))
        for deep in (o for t in fitting for o in _in_orders(t, problem, target)):
            found = (*_preference(deep, problem, target), at, deep.depth), deep
            best = found if best is None else min(best, found)
    return None if best is None else best[1]


def _about(seconds: float) -> int:
    """Return the bucket of `seconds`; times within 2 % of each other share a bucket."""
    return time_bucket(seconds, within=0.02)


def _preference(tiling: Tiling, problem: Contraction, target: Target) -> tuple[float, ...]:
    """
    Return a sort key: the time in buckets of 2 %, then no idle SM, few splits, three slots and
    chunks of 16, large tiles, few chunks, a register tile with few loads for its sums, and blocks
    one row at a time.
    """
    about = _about(tiling.seconds(problem, target))
    idle = max(0, target.sms - tiling.blocks(problem))
    row = _ROW_BYTES // size_of(problem.instruction.fragments.element) if problem.instruction else 0
    usual = row if tiling.tile.is_matrix else 16
    unusual = abs(tiling.depth - 3) + abs(tiling.bk - usual) // 8
    area, columns = tiling.tile.m * tiling.tile.n, tiling.tile.n
    loads = tiling.operands(problem) / (tiling.tile.fm * tiling.tile.fn)
    shape = -area, -columns, -tiling.bk, loads
    return about, idle, tiling.split, unusual, *shape, tiling.raster


def _combinations(
    problem: Contraction, target: Target, tiles: Sequence[BlockTile]
) -> Iterator[Tiling]:
    for tiling in _shallow(problem, target, tiles):
        yield from _deepened(tiling, problem)


def _shallow(problem: Contraction, target: Target, tiles: Sequence[BlockTile]) -> Iterator[Tiling]:
    """Yield tilings with the fewest slots."""
    splits = [s for s in SPLITS if s == 1 or problem.k // s >= SHORTEST_SPLIT]
    chunks = _chunks(CHUNKS, problem) or [problem.k]
    of_matrix = _chunks(_matrix_chunks(problem), problem)
    sizes = ((t, bk) for t in tiles for bk in (of_matrix if t.is_matrix else chunks))
    for (of_block, bk), split in product(sizes, splits):
        if target.has_clusters and 1 < split <= MAX_CLUSTER:
            yield Tiling(of_block, bk, split, DEPTHS[0], Join.CLUSTER)
        yield Tiling(of_block, bk, split, DEPTHS[0])


def _matrix_chunks(problem: Contraction) -> Sequence[int]:
    """
    Return the lengths of a chunk for matrix instructions. Where no usual one lies in one step of a
    window, these are all that the instruction adds and that do.
    """
    if problem.instruction is None or not problem.period:
        return MATRIX_CHUNKS
    if any(problem.period % bk == 0 for bk in MATRIX_CHUNKS):
        return MATRIX_CHUNKS
    least = problem.instruction.fragments.k
    odd = [bk for bk in range(least, max(MATRIX_CHUNKS) + 1, least) if problem.period % bk == 0]
    return odd or MATRIX_CHUNKS


def _chunks(lengths: Sequence[int], problem: Contraction) -> Sequence[int]:
    """
    Return the lengths of a chunk, only those with linear subscripts if there are any: each step of
    another chunk computes its own address.
    """
    possible = [bk for bk in lengths if bk <= problem.k]
    return [bk for bk in possible if problem.period % bk == 0] or possible


def _deepened(tiling: Tiling, problem: Contraction) -> Iterator[Tiling]:
    """
    Yield the tiling, then the tiling with each larger number of slots that its chunks fill at least
    twice.
    """
    yield tiling
    for depth in DEPTHS[1:]:
        if tiling.chunks(problem) >= 2 * depth:
            yield tiling._replace(depth=depth)


def _in_orders(tiling: Tiling, problem: Contraction, target: Target) -> Iterator[Tiling]:
    """Yield the tiling, then the tiling with blocks in groups of rows if these save time."""
    yield tiling
    if (raster := tiling.best_raster(problem, target)) == 1:
        return
    grouped = tiling._replace(raster=raster)
    if _about(grouped.seconds(problem, target)) < _about(tiling.seconds(problem, target)):
        yield grouped
