# SPDX-License-Identifier: Apache-2.0
"""
Assignments of threads and blocks to rows, the fastest first by the model in `row_assignment.py`.

A block has its part of a row in registers, or goes along it in steps. Several blocks may share a
row if there are fewer rows than SMs. Several blocks may also share a row that is too long for the
registers of a block.
"""

from collections.abc import Iterator
from itertools import product
from math import log

from tilewright.dialects.kernel_like import MAX_CLUSTER, MAX_THREADS
from tilewright.dialects.target import WARP_SIZE, Target
from tilewright.dialects.tile import Join
from tilewright.passes.cost.row_registers import MOST_ELEMENTS, most_row_elements
from tilewright.passes.cost.time_models import time_bucket
from tilewright.passes.tile.cooperative_reduce import SPLITS
from tilewright.passes.tile.planner.row_assignment import RowAssignment, pieces_ahead
from tilewright.passes.tile.planner.row_problem import RowProblem
from tilewright.passes.tile.usual_sizes import USUAL_ELEMENTS, USUAL_THREADS

_STEPPING_THREADS = (256, 512, 1024)
_COLUMN_THREADS = (4, 8, 16, 32, 64)
_COLUMN_LANES = (8, 16, 32)

_LEAST_SHARE = 1024
"""Fewest elements of a block if several blocks share a row."""

IN_STEPS = RowAssignment(WARP_SIZE, 1, 1)
"""
Fallback assignment with one element a thread, for kernels whose work needs too many registers for
more.
"""


def row_assignments(problem: RowProblem, target: Target) -> list[RowAssignment]:
    """Return the possible assignments, the fastest first."""
    shapes = _of_columns(problem, target) if problem.are_columns else _of_rows(problem, target)
    possible = [assignment for assignment in shapes if assignment.resident(problem, target) > 0]
    return sorted(possible, key=lambda assignment: _preference(assignment, problem, target))


def _preference(
    assignment: RowAssignment, problem: RowProblem, target: Target
) -> tuple[float, ...]:
    """
    Return a sort key: the time in buckets of 5 %, then one block for each row, wide accesses, no
    idle SM, few splits, little waste, several rows in a block. A waste of a twentieth counts as
    much as twice or half the usual number of elements.
    """
    about = time_bucket(assignment.seconds(problem, target), within=0.05)
    idle = max(0, target.sms - assignment.blocks(problem)) if assignment.split > 1 else 0
    covered = assignment.steps(problem) * assignment.covered * assignment.split
    waste = covered / problem.length - 1
    unusual = abs(log(assignment.elements / USUAL_ELEMENTS, 2))
    best = waste * 20 + unusual, assignment.threads, -assignment.rows
    return about, assignment.split > 1, -assignment.vector, idle, assignment.split, *best


def _of_rows(problem: RowProblem, target: Target) -> Iterator[RowAssignment]:
    """Yield assignments with a block's part of a row in registers, if it fits, and in steps."""
    for split, join in _splits(problem, 1, target):
        part = -(-problem.length // split)
        for threads in range(WARP_SIZE, MAX_THREADS + 1, WARP_SIZE):
            items = -(-part // (threads * problem.vector))
            rows = 1 if split > 1 else _rows_of_block(threads, problem, target)
            assignment = RowAssignment(threads, items, problem.vector, rows, split, join)
            if assignment.elements <= MOST_ELEMENTS:
                yield assignment
        items = pieces_ahead(problem.vector) if problem.joins_together else 1
        for threads in _STEPPING_THREADS:
            if threads * items * problem.vector < part:
                yield RowAssignment(threads, items, problem.vector, 1, split, join)


def _rows_of_block(threads: int, problem: RowProblem, target: Target) -> int:
    """Return how many rows make a block of the usual size, as long as each SM has two blocks."""
    rows = min(USUAL_THREADS // threads, problem.rows // (2 * target.sms))
    return 1 << max(rows, 1).bit_length() - 1


def _of_columns(problem: RowProblem, target: Target) -> Iterator[RowAssignment]:
    """
    Yield assignments in which neighbouring threads handle neighbouring columns, or vectors of them.
    """
    vectors = dict.fromkeys((problem.vector, 1))
    for threads, lanes, vector in product(_COLUMN_THREADS, _COLUMN_LANES, vectors):
        if threads * lanes > MAX_THREADS // 2 or lanes * vector >= 2 * problem.rows:
            continue
        for split, join in _splits(problem, lanes * vector, target):
            yield RowAssignment(threads, 1, vector, lanes, split, join, columns=True)


def _splits(problem: RowProblem, rows: int, target: Target) -> Iterator[tuple[int, Join]]:
    """
    Yield the numbers of blocks that can share a row, with their join; each block has `rows` rows. A
    row is shared if there are fewer rows than SMs, or if it does not fit the registers of a block.
    """
    yield 1, Join.LAST_BLOCK
    blocks = -(-problem.rows // rows)
    is_long = problem.length > most_row_elements(target)
    fitting = [waves * target.sms // blocks for waves in (1, 2)]
    if not problem.joins:
        return
    worth = [s for s in (*SPLITS, *fitting) if 2 <= s <= problem.length * rows // _LEAST_SHARE]
    for split in dict.fromkeys(worth):
        is_small_grid = blocks * split <= 2 * target.sms
        if target.has_clusters and split <= MAX_CLUSTER and (is_small_grid or is_long):
            yield split, Join.CLUSTER
        if problem.ends_joined and is_small_grid:
            yield split, Join.LAST_BLOCK
