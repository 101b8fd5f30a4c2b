# SPDX-License-Identifier: Apache-2.0
"""
Assignments of threads and blocks to rows, the fastest first by the model in `row_assignment.py`.

A block has its part of a row in registers, or goes along it in steps. Where there are fewer rows
than SMs, or a row is too long for the registers of a block, several blocks may work on each.
"""

from collections.abc import Iterator
from itertools import product
from math import log

from tilewright.dialects.kernel_like import MAX_CLUSTER, MAX_THREADS
from tilewright.dialects.target import WARP_SIZE, Target
from tilewright.dialects.tile import Join
from tilewright.passes.cost.time_models import time_bucket
from tilewright.passes.tile.planner.row_assignment import RowAssignment
from tilewright.passes.tile.planner.row_problem import RowProblem

USUAL_ELEMENTS = 8
"""Elements of a row that a thread has: enough loads are under way, and warps to hide them."""

MOST_ELEMENTS = 64
"""Registers that a row may take of a thread, beside what is computed of it."""

USUAL_THREADS = 256
"""Threads of a block that does several rows."""

_STEPPING_THREADS = (256, 512, 1024)
_COLUMN_THREADS = (4, 8, 16, 32, 64)
_COLUMN_LANES = (8, 16, 32)
_SPLITS = (2, 4, 8, 16, 32, 64)

_LEAST_SHARE = 1024
"""Elements that a block has at least, if several work on one row."""

IN_STEPS = RowAssignment(WARP_SIZE, 1, 1)
"""A way for kernels that do so much to each element that a thread can have but one at a time."""


def row_assignments(problem: RowProblem, target: Target) -> list[RowAssignment]:
    """Return the assignments that are possible, the fastest first."""
    shapes = _of_columns(problem, target) if problem.are_columns else _of_rows(problem, target)
    possible = [assignment for assignment in shapes if assignment.resident(problem, target) > 0]
    return sorted(possible, key=lambda assignment: _preference(assignment, problem, target))


def _preference(
    assignment: RowAssignment, problem: RowProblem, target: Target
) -> tuple[float, ...]:
    """
    Of those within a twentieth of each other: one block to a row or, if not, all SMs at work; wide
    accesses; few splits; little waste, of which a twentieth weighs as much as twice or half the
    usual number of elements; several rows a block.
    """
    about = time_bucket(assignment.seconds(problem, target), within=0.05)
    idle = max(0, target.sms - assignment.blocks(problem)) if assignment.split > 1 else 0
    covered = assignment.steps(problem) * assignment.covered * assignment.split
    waste = covered / problem.length - 1
    unusual = abs(log(assignment.elements / USUAL_ELEMENTS, 2))
    best = waste * 20 + unusual, assignment.threads, -assignment.rows
    return about, assignment.split > 1, -assignment.vector, idle, assignment.split, *best


def _of_rows(problem: RowProblem, target: Target) -> Iterator[RowAssignment]:
    """Yield a block's part of a row in registers, if that can be, and in steps."""
    for split, join in _splits(problem, 1, target):
        part = -(-problem.length // split)
        for threads in range(WARP_SIZE, MAX_THREADS + 1, WARP_SIZE):
            items = -(-part // (threads * problem.vector))
            rows = 1 if split > 1 else _rows_of_block(threads, problem, target)
            assignment = RowAssignment(threads, items, problem.vector, rows, split, join)
            if assignment.elements <= MOST_ELEMENTS:
                yield assignment
        for threads in _STEPPING_THREADS:
            if threads * problem.vector < part:
                yield RowAssignment(threads, 1, problem.vector, 1, split, join)


def _rows_of_block(threads: int, problem: RowProblem, target: Target) -> int:
    """Rows that make a block of the usual size, if that leaves two blocks for each SM."""
    wanted = min(USUAL_THREADS // threads, problem.rows // (2 * target.sms))
    return 1 << max(wanted, 1).bit_length() - 1


def _of_columns(problem: RowProblem, target: Target) -> Iterator[RowAssignment]:
    """Neighbouring threads do neighbouring columns, or vectors of them."""
    vectors = dict.fromkeys((problem.vector, 1))
    for threads, lanes, vector in product(_COLUMN_THREADS, _COLUMN_LANES, vectors):
        if threads * lanes > MAX_THREADS // 2 or lanes * vector >= 2 * problem.rows:
            continue
        for split, join in _splits(problem, lanes * vector, target):
            yield RowAssignment(threads, 1, vector, lanes, split, join, columns=True)


def _splits(problem: RowProblem, rows: int, target: Target) -> Iterator[tuple[int, Join]]:
    """
    Into how many parts a row can be split among blocks of so many `rows`, and how they join: where
    there are fewer rows than SMs, or a row does not fit the registers of a block.
    """
    yield 1, Join.LAST_BLOCK
    blocks = -(-problem.rows // rows)
    is_long = problem.length > MAX_THREADS * MOST_ELEMENTS
    fitting = [waves * target.sms // blocks for waves in (1, 2)]
    if not problem.joins:
        return
    worth = [s for s in (*_SPLITS, *fitting) if 2 <= s <= problem.length * rows // _LEAST_SHARE]
    for split in dict.fromkeys(worth):
        is_wanted = blocks * split <= 2 * target.sms
        if target.has_clusters and split <= MAX_CLUSTER and (is_wanted or is_long):
            yield split, Join.CLUSTER
        if problem.ends_joined and is_wanted:
            yield split, Join.LAST_BLOCK
