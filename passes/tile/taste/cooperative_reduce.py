# SPDX-License-Identifier: Apache-2.0
"""
Heuristics (taste) of `cooperative-reduce`: about eight steps a thread, in blocks of 256 threads.
One block for each row, or for several rows, comes before several blocks for one row.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tilewright.dialects import tile
from tilewright.dialects.kernel_like import MAX_THREADS
from tilewright.dialects.target import WARP_SIZE
from tilewright.dialects.tile import Join
from tilewright.passes.facts.block_joins import reason_against_join
from tilewright.passes.tile.cooperative_reduce import (
    SPLITS,
    CooperativeReducePass,
    ThreadsPerRow,
    repeated_statistics,
)
from tilewright.passes.tile.rebind import next_power_of_two, total_extent
from tilewright.passes.tile.row_facts import SECTOR, are_columns, columns_per_row, row_length
from tilewright.passes.tile.usual_sizes import USUAL_ELEMENTS, USUAL_THREADS

_MANY_COLUMNS = 4096
"""Columns above which one warp per column already fills a GPU."""


def prefer(step: CooperativeReducePass, launch: tile.LaunchOp) -> Sequence[CooperativeReducePass]:
    """Return the choices: the usual threads first, several blocks for one row last."""
    bare = CooperativeReducePass(step.target)
    if repeated_statistics(launch):
        return [bare]
    guess = _usual_threads_per_row(launch)
    whole = -(-row_length(launch) // WARP_SIZE) * WARP_SIZE
    found = [bare.assigned(guess, "stage")]
    found += [bare.assigned(g, "stage") for g in _other_threads_per_row(guess, launch)]
    whole_rows = (ThreadsPerRow(whole, rows, columns=False) for rows in (1, 2, 4, 8))
    found += [bare.assigned(g, "registers") for g in whole_rows]
    possible = [choice for choice in found if choice.reason_not_possible(launch) is None]
    return [*dict.fromkeys(possible), *_splits(step, launch, guess)]


def _splits(
    step: CooperativeReducePass, launch: tile.LaunchOp, guess: ThreadsPerRow
) -> Iterator[CooperativeReducePass]:
    """
    Yield choices with several blocks for one row; none if the options give `threads` but not
    `split`.
    """
    if step.split is None and step.threads is not None:
        return
    for join in (Join.CLUSTER, Join.LAST_BLOCK):
        two = CooperativeReducePass(step.target).assigned(
            guess._replace(split=2, join=join), "stage"
        )
        if two.reason_not_possible(launch) is not None:
            continue
        splits = SPLITS if step.split is None else (step.split,)
        for split in (s for s in splits if s <= row_length(launch)):
            if reason_against_join(join, split, step.target) is None:
                yield replace(two, split=split)


def _usual_threads_per_row(launch: tile.LaunchOp) -> ThreadsPerRow:
    """
    Return the usual threads: about eight steps a thread, in blocks of 256 threads.

    If rows are columns in memory, a block has `SECTOR` of them, or 32 if there are many; each
    thread does about 16 steps, in blocks of up to 512 threads. A row that is contracted with
    columns has a block of its own, with a thread for each column, 32 to 256. `stage-inputs` then
    keeps the row.
    """
    length, rows = row_length(launch), total_extent(launch.bound_axes())
    if are_columns(launch):
        rows = SECTOR if rows < _MANY_COLUMNS else WARP_SIZE
        return ThreadsPerRow(
            min(next_power_of_two(-(-length // 16)), 512 // rows), rows, columns=True
        )
    if (products := columns_per_row(launch)) > 0:
        return ThreadsPerRow(
            min(max(next_power_of_two(products), WARP_SIZE), USUAL_THREADS), 1, columns=False
        )
    threads = min(max(next_power_of_two(-(-length // USUAL_ELEMENTS)), WARP_SIZE), MAX_THREADS)
    return ThreadsPerRow(
        threads, max(1, min(USUAL_THREADS // threads, next_power_of_two(rows))), columns=False
    )


def _other_threads_per_row(guess: ThreadsPerRow, launch: tile.LaunchOp) -> Iterator[ThreadsPerRow]:
    """Yield other numbers of threads and rows for a block, which otherwise equals `guess`."""
    most = next_power_of_two(total_extent(launch.bound_axes()))
    for threads in (32, 64, 128, 256, 512, 1024):
        for rows in (1, 2, 4, 8):
            if threads * rows <= MAX_THREADS and rows <= most:
                yield guess._replace(threads=threads, rows=rows)
