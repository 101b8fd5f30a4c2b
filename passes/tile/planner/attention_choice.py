# SPDX-License-Identifier: Apache-2.0
"""
All tilings of attention among blocks, the fastest first by the model in `attention_tiling.py`.

Rows of a block, keys of a chunk, elements of a thread, slots and splits depend on each other: they
share the memory and the registers of a block.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product

from tilewright.dialects.kernel_like import MAX_CLUSTER
from tilewright.dialects.matrix_instruction import LANES_M, LANES_N
from tilewright.dialects.target import WARP_SIZE, Target
from tilewright.dialects.tile import Join
from tilewright.passes.cost.time_models import time_bucket
from tilewright.passes.tile.planner.attention import Attention
from tilewright.passes.tile.planner.attention_tiling import AttentionTiling
from tilewright.passes.tile.rebind import next_power_of_two

MOST_COLUMNS = 256
"""Most columns that a block owns; several blocks share the columns of longer rows."""

_MATRIX_KEYS, _KEYS = (16, 32, 64, 128), (8, 16, 32, 64)
"""Keys of a chunk for matrix instructions, and for multiply-adds."""

_WARPS = (1, 2, 4, 8)

_ROWS_OF_THREAD, _THREADS_ALONG_ROWS = (8, 4, 2, 1), (2, 4, 8, 16, 32)

_DEPTHS = (1, 2, 3)

_SPLITS = (2, 4, 8, 16, 32)


@lru_cache  # the same attention recurs in every layer of a model
def attention_tilings(problem: Attention, target: Target) -> Sequence[AttentionTiling]:
    """Return the possible tilings, the fastest first; at least one."""
    whole = [*_matrix_tilings(problem), *_tilings(problem)]
    every = [each for tiling in whole for each in _split(tiling, problem, target)]
    possible = [tiling for tiling in every if tiling.fits(problem, target)]
    return sorted(
        possible or [fewest_elements(problem)], key=lambda t: _preference(t, problem, target)
    )


def fewest_elements(problem: Attention) -> AttentionTiling:
    """Return a tiling whose threads have as few elements as possible."""
    return AttentionTiling(8, _columns(problem), _KEYS[0], 1, 1, 1, is_matrix=False)


def _preference(tiling: AttentionTiling, problem: Attention, target: Target) -> tuple[float, ...]:
    """
    Return a sort key: the time in buckets of 2 %, then few splits, two slots, long chunks, and many
    rows.
    """
    about = time_bucket(tiling.seconds(problem, target), within=0.02)
    return about, tiling.split, abs(tiling.depth - 2), -tiling.bk, -tiling.m


def _columns(problem: Attention) -> int:
    return min(MOST_COLUMNS, max(16, next_power_of_two(problem.n)))


def _matrix_tilings(problem: Attention) -> Iterator[AttentionTiling]:
    """
    Yield the tilings in which each warp owns 16 or 32 rows, and all keys of a chunk. Split factors
    need the registers of the second 16 rows.
    """
    instruction, n = problem.instruction, _columns(problem)
    if instruction is None:
        return
    rows = (2,) if instruction.is_split else (2, 4)
    for bk, warps, fm, depth in product(_suited(_MATRIX_KEYS, problem), _WARPS, rows, _DEPTHS):
        tiling = AttentionTiling(
            warps * fm * LANES_M, n, bk, fm, min(n, bk) // LANES_N, depth, is_matrix=True
        )
        if tiling.m < 2 * problem.m or tiling.m == 2 * LANES_M:
            yield tiling


def _tilings(problem: Attention) -> Iterator[AttentionTiling]:
    """Yield the tilings for multiply-adds."""
    n = _columns(problem)
    sizes = product(_suited(_KEYS, problem), _ROWS_OF_THREAD, _THREADS_ALONG_ROWS, _DEPTHS)
    for bk, fm, rows, depth in sizes:
        tiling = AttentionTiling(fm * rows, n, bk, fm, 4, depth, is_matrix=False)
        is_whole = tiling.threads % WARP_SIZE == 0 and tiling.threads <= 256
        if is_whole and tiling.m < 2 * max(problem.m, 4):
            yield tiling


def _split(
    tiling: AttentionTiling, problem: Attention, target: Target
) -> Iterator[AttentionTiling]:
    """
    Yield a tiling, then the same with keys that several blocks share, if it leaves SMs idle. Each
    block has at least two chunks.
    """
    yield tiling
    blocks = problem.batch * -(-problem.m // tiling.m) * -(-problem.n // tiling.n)
    chunks = -(-problem.keys // tiling.bk)
    for split in (split for split in _SPLITS if 2 * split <= chunks and blocks < target.sms):
        if target.has_clusters and split <= MAX_CLUSTER:
            yield tiling._replace(split=split, join=Join.CLUSTER)
        yield tiling._replace(split=split)


def _suited(keys: Sequence[int], problem: Attention) -> Sequence[int]:
    """Return the lengths of chunks that are at most the number of keys, rounded up."""
    return [bk for bk in keys if bk <= next_power_of_two(max(problem.keys, _KEYS[0]))]
