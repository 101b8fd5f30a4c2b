# SPDX-License-Identifier: Apache-2.0
"""
Which schedule a kernel gets: all that must be decided together, decided together.

Of the tilings of a contraction (`tilings.py`) the fastest is taken. Rows are kept in registers,
each by so many threads that few of them idle; elements are accessed by vectors where all SMs have
work then.

What depends on one decision alone (which operands are staged, pads, swizzles) is left to the pass
that makes it.
"""

from math import log
from typing import NamedTuple, cast

from tilewright.dialects import loop, tile
from tilewright.dialects.kernel_like import MAX_THREADS
from tilewright.dialects.target import WARP_SIZE, Target
from tilewright.passes.tile.blockify_launch import is_rectangular
from tilewright.passes.tile.contraction import Contraction, contraction_of
from tilewright.passes.tile.lift_columns import lift_columns
from tilewright.passes.tile.rebind import total_extent
from tilewright.passes.tile.rows import (
    are_columns,
    columns_of_row,
    row_length,
    shares_rows,
    vector_along,
)
from tilewright.passes.tile.tileify import apply as tileify
from tilewright.passes.tile.tilings import Tiling, tilings


class Weighed(NamedTuple):
    """What was weighed for a contraction."""

    problem: Contraction
    tilings: list[Tiling]
    """The one that is taken, and those that come after it."""


def weighed(launch: tile.LaunchOp, target: Target) -> Weighed | None:
    """What there is to choose from; None for what is no contraction of matrices."""
    problem = contraction_of(launch)
    if problem is None or not is_rectangular(launch):
        return None
    return Weighed(problem, tilings(problem, target))


def plan(kernel: loop.KernelOp, target: Target) -> str:
    """The pipeline that schedules `kernel`, with the options that are decided together."""
    lift, launch = launched(kernel)
    if (found := weighed(launch, target)) is not None:
        return f"{lift},{_plan_contraction(found, target)}"
    if shares_rows(launch):
        return f"{lift},{_plan_rows(launch, target)}"
    return f"{lift},{_plan_elements(launch, target)}"


def launched(kernel: loop.KernelOp) -> tuple[str, tile.LaunchOp]:
    """How `tileify` is to lift the kernel, and the launch that it makes of it."""
    copy = kernel.clone()
    launch = tileify(copy)
    if columns_of_row(launch) == 0:
        return "tileify", launch
    lift_columns(launch)
    return "tileify{columns=true}", cast(tile.LaunchOp, copy.body.block.last_op)


def _plan_contraction(found: Weighed, target: Target) -> str:
    best = found.tilings[0]
    of_block = best.tile
    threads = of_block.threads * best.registers(found.problem)
    min_blocks = max(1, target.registers_per_sm // threads)
    steps = [f"chunk-matmul-k{{bk={best.bk}}}"]
    if best.split > 1:
        join = best.join(target)
        steps.append(f"split-matmul-k{{factor={best.split} join={join.value}}}")
    steps += [
        f"blockify-launch{{m={of_block.m} n={of_block.n}}}",
        "cooperative-reduce",
        "stage-inputs",
        f"register-tile{{fm={of_block.fm} fn={of_block.fn} min_blocks={min_blocks}}}",
        "permute-register-tile",
        f"double-buffer{{depth={best.depth}}}",
        "tma-copy",
        "split-inner-for-swizzle",
        "async-copy",
        "pad-smem",
        f"pipeline-k-outer{{lookahead={best.depth - 1}}}",
        "mark-unroll",
    ]
    return ",".join(steps)


class RowSharing(NamedTuple):
    """How threads share a row that they keep in registers."""

    threads: int
    items: int
    """Pieces of a thread."""
    vector: int
    """Elements of a piece, which lie side by side."""

    @property
    def elements(self) -> int:
        """Elements of a thread."""
        return self.items * self.vector

    @property
    def covered(self) -> int:
        """Elements that all threads have room for, those beyond the row's end included."""
        return self.threads * self.elements


USUAL_ELEMENTS = 8
"""Elements of a row that a thread has: enough loads are under way, and warps to hide them."""

MOST_ELEMENTS = 64
"""Registers that a row may take of a thread, beside what is computed of it."""

USUAL_THREADS = 256
"""Threads of a block that does rows, or elements of their own."""


def row_sharings(length: int, vector: int) -> list[RowSharing]:
    """How threads can share a row, best first: little waste, then the usual number of elements."""
    found = [
        RowSharing(threads, -(-length // (threads * vector)), vector)
        for threads in range(WARP_SIZE, MAX_THREADS + 1, WARP_SIZE)
    ]
    possible = [row for row in found if row.elements <= MOST_ELEMENTS]
    return sorted(possible, key=lambda row: _row_preference(row, length))


def _row_preference(row: RowSharing, length: int) -> tuple[float, ...]:
    """A twentieth of waste weighs as much as twice or half the usual number of elements."""
    waste = row.covered / length - 1
    unusual = abs(log(row.elements / USUAL_ELEMENTS, 2))
    return waste * 20 + unusual, row.threads


def _plan_rows(launch: tile.LaunchOp, target: Target) -> str:
    length, rows = row_length(launch), total_extent(launch.bound_axes())
    sharings = row_sharings(length, vector_along(launch))
    if are_columns(launch) or columns_of_row(launch) or not sharings:
        return "cooperative-reduce,chunk-reduce,stage-inputs,mark-unroll"
    best = sharings[0]
    wanted = min(USUAL_THREADS // best.threads, rows // (2 * target.sms))
    of_block = 1 << max(wanted, 1).bit_length() - 1
    steps = (
        f"cooperative-reduce{{threads={best.covered} rows={of_block} row=registers}}",
        f"register-tile{{items={best.items} vector={best.vector}}}",
        "mark-unroll",
    )
    return ",".join(steps)


def _plan_elements(launch: tile.LaunchOp, target: Target) -> str:
    vector, elements = vector_along(launch), total_extent(launch.bound_axes())
    if elements < USUAL_THREADS * vector * target.sms:
        vector = 1  # more threads serve more than wider accesses
    return (
        f"blockify-launch{{n={USUAL_THREADS * vector}}},"
        f"register-tile{{items=1 vector={vector}}},mark-unroll"
    )
