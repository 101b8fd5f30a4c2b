# SPDX-License-Identifier: Apache-2.0
"""Threads and blocks per row (`cooperative-reduce`): the default, and what else can be tried."""

from collections.abc import Iterator
from typing import NamedTuple

from tilewright.dialects import tile
from tilewright.dialects.kernel_like import MAX_THREADS
from tilewright.dialects.target import WARP_SIZE
from tilewright.dialects.tile import Join
from tilewright.passes.tile.rebind import power_of_two, total_extent
from tilewright.passes.tile.row_facts import SECTOR, are_columns, columns_of_row, row_length

_MANY_COLUMNS = 4096
"""Columns above which one warp per column already fills a GPU."""


class ThreadsPerRow(NamedTuple):
    """Threads and blocks that work on each row of a launch together."""

    threads: int
    """Threads of a block that work on a row."""
    rows: int
    """Rows that a block does."""
    columns: bool
    """True if neighbouring threads do neighbouring rows, rather than parts of one."""
    split: int = 1
    """Blocks that work on a row."""
    join: Join = Join.LAST_BLOCK
    """Join of these blocks, if there are several."""


def usual_threads_per_row(launch: tile.LaunchOp) -> ThreadsPerRow:
    """
    Eight steps a thread, and blocks of 256 threads; columns by the sector. Where a row is
    multiplied with columns, a thread for each column, and one row, which `stage-inputs` keeps.
    """
    length, rows = row_length(launch), total_extent(launch.bound_axes())
    if are_columns(launch):
        rows = SECTOR if rows < _MANY_COLUMNS else WARP_SIZE
        return ThreadsPerRow(min(power_of_two(-(-length // 16)), 512 // rows), rows, columns=True)
    if (products := columns_of_row(launch)) > 0:
        return ThreadsPerRow(min(max(power_of_two(products), WARP_SIZE), 256), 1, columns=False)
    threads = min(max(power_of_two(-(-length // 8)), WARP_SIZE), MAX_THREADS)
    return ThreadsPerRow(threads, max(1, min(256 // threads, power_of_two(rows))), columns=False)


def other_threads_per_row(guess: ThreadsPerRow, launch: tile.LaunchOp) -> Iterator[ThreadsPerRow]:
    """Yield what else could be tried."""
    most = power_of_two(total_extent(launch.bound_axes()))
    for threads in (32, 64, 128, 256, 512, 1024):
        for rows in (1, 2, 4, 8):
            if threads * rows <= MAX_THREADS and rows <= most:
                yield guess._replace(threads=threads, rows=rows)
