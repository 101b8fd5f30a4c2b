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
from tilewright.dialects.matrix_instruction import LANES_M, LANES_N, MatrixInstruction
from tilewright.dialects.target import WARP_SIZE, Target
from tilewright.dialects.tile import Join
from tilewright.passes.cost.time_models import time_bucket
from tilewright.passes.tile.planner.attention import Attention
from tilewright.passes.tile.planner.attention_tiling import AttentionTiling
from tilewright.passes.tile.rebind import next_power_of_two

MOST_COLUMNS = 1024
"""
Most columns that a block owns. Several blocks share the columns of longer rows, and each computes
all scores of its rows.
"""

_COLUMNS_OF_WARP = 256
"""Most columns that a warp owns; several warps share the weights of longer rows."""

_ROWS = 128
"""Rows of queries and keys, together, that are staged in slices if a block has no room for them."""

_SLICE_BYTES = 128
"""Bytes of a query, and of a key, in a slice. Shorter rows are filled with bank conflicts."""

_VALUES = (128, 32, 16)
"""Most keys whose values are staged at once beside slices."""

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
    if _is_long(problem, target):
        whole = [each for tiling in whole for each in _sliced(tiling, problem)]
    every = [each for tiling in whole for each in _split(tiling, problem, target)]
    possible = [tiling for tiling in every if tiling.fits(problem, target)]
    return sorted(
        possible or [fewest_elements(problem, target)],
        key=lambda t: _preference(t, problem, target),
    )


def fewest_elements(problem: Attention, target: Target) -> AttentionTiling:
    """
    Return a tiling whose threads have as few elements as possible, with short slices of long rows.
    """
    bk = _KEYS[0]
    whole = AttentionTiling(8, _columns(problem, bk)[0], bk, 1, 1, 1, is_matrix=False)
    return next(_sliced(whole, problem)) if _is_long(problem, target) else whole


def _preference(tiling: AttentionTiling, problem: Attention, target: Target) -> tuple[float, ...]:
    """
    Return a sort key: the time in buckets of 2 %, then few splits, two slots, or three of slices,
    long chunks, and many rows.
    """
    about = time_bucket(tiling.seconds(problem, target), within=0.02)
    slots = 3 if tiling.slice else 2
    return about, tiling.split, abs(tiling.depth - slots), -tiling.bk, -tiling.m


def _columns(problem: Attention, bk: int) -> Sequence[int]:
    """
    Return the numbers of columns that a block with `bk` keys in a chunk may own. More columns than
    a warp owns are divided evenly among blocks, and are whole chunks of columns.
    """
    if problem.n <= _COLUMNS_OF_WARP:
        return [max(16, next_power_of_two(problem.n))]
    blocks = [-(-problem.n // most) for most in (MOST_COLUMNS, 512, _COLUMNS_OF_WARP)]
    return [-(-problem.n // (each * bk)) * bk for each in dict.fromkeys(blocks)]


def _matrix_tilings(problem: Attention) -> Iterator[AttentionTiling]:
    """
    Yield the tilings in which warps own 16 or 32 rows, and all keys of a chunk unless several warps
    share the columns. Split factors of one warp need the registers of the second 16 rows.
    """
    if problem.instruction is None:
        return
    for bk in _suited(_MATRIX_KEYS, problem):
        for n in _columns(problem, bk):
            yield from _tilings_of_warps(problem, problem.instruction, n, bk)


def _tilings_of_warps(
    problem: Attention, instruction: MatrixInstruction, n: int, bk: int
) -> Iterator[AttentionTiling]:
    """Yield the tilings of `n` columns and `bk` keys for a matrix instruction."""
    is_shared = n > _COLUMNS_OF_WARP
    rows = (2, 4) if is_shared or not instruction.is_split else (2,)
    along = [warps for warps in (2, 4, 8) if bk >= 8 * warps] if is_shared else [1]
    for warps, shared, fm, depth in product(_WARPS, along, rows, _DEPTHS):
        fn = min(n, bk) // LANES_N // shared
        tiling = AttentionTiling(warps * fm * LANES_M, n, bk, fm, fn, depth, is_matrix=True)
        is_suited = tiling.m < 2 * problem.m or tiling.m == 2 * LANES_M
        if is_suited and warps * shared <= max(_WARPS):
            yield tiling


def _tilings(problem: Attention) -> Iterator[AttentionTiling]:
    """Yield the tilings for multiply-adds."""
    sizes = product(_suited(_KEYS, problem), _ROWS_OF_THREAD, _THREADS_ALONG_ROWS, _DEPTHS)
    for bk, fm, rows, depth in sizes:
        for n in _columns(problem, bk):
            tiling = AttentionTiling(fm * rows, n, bk, fm, 4, depth, is_matrix=False)
            is_whole = tiling.threads % WARP_SIZE == 0 and tiling.threads <= 256
            if is_whole and tiling.m < 2 * max(problem.m, 4):
                yield tiling


def _is_long(problem: Attention, target: Target) -> bool:
    """True if queries and keys are staged in slices: a block has no room for many whole ones."""
    return _ROWS * problem.depth * problem.score_element > target.shared_per_block


def _sliced(tiling: AttentionTiling, problem: Attention) -> Iterator[AttentionTiling]:
    """Yield a tiling with slices of queries and keys, and of the values of a chunk."""
    slice = _SLICE_BYTES // problem.score_element
    for values in dict.fromkeys(min(keys, tiling.bk) for keys in _VALUES):
        yield tiling._replace(slice=slice, values=values)


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
