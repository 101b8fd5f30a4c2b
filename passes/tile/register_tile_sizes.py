# SPDX-License-Identifier: Apache-2.0
"""
Sizes of the register tile that a thread can have (`register-tile`), the best guess first, and the
registers that they take.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from math import log2, prod

from xdsl.ir import BlockArgument, Operation, SSAValue

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Role
from tilewright.dialects.target import Target
from tilewright.dialects.tile import varies_along
from tilewright.dialects.tile.attributes import Axis
from tilewright.passes.cost.live_registers import estimated_registers
from tilewright.passes.tile.contracting_reductions import chunks_of, contracting_reductions
from tilewright.passes.tile.row_facts import row_length, stride, vector_along

FACTORS = (8, 4, 16, 2, 1)
"""Rows or columns that a thread may have of a contraction."""

WIDTHS = (4, 2, 1)
"""Elements of 4 bytes that one access moves, the most first."""

_FEWEST_THREADS, _MOST_THREADS = 128, 256
"""Threads that a block is left by default; the most also where threads go along a row in steps."""


def last_axis(launch: tile.LaunchOp) -> list[Axis]:
    """The last thread axis that has several steps, if there is one."""
    return [axis for axis in launch.thread_axes() if axis.extent > 1][-1:]


def m_n_axes(launch: tile.LaunchOp) -> list[Axis]:
    """The thread axes of a contraction: along m and along n; nothing for any other launch."""
    found = [axis for axis in launch.thread_axes() if axis.role in (Role.M, Role.N)]
    return found if [axis.role for axis in found] == [Role.M, Role.N] else []


def widest(launch: tile.LaunchOp) -> int:
    """Neighbours that all accesses along the last axis move, leaving enough threads."""
    (axis,) = last_axis(launch)
    vector = vector_along(launch, axis.value, axis.extent)
    goes_in_steps = axis.role is Role.K and row_length(launch) > 0
    left = _MOST_THREADS if goes_in_steps else _FEWEST_THREADS
    while vector > 1 and launch.num_threads < vector * left:
        vector //= 2
    return vector


def innermost(launch: tile.LaunchOp) -> list[loop.ReduceOp]:
    """Contractions, or the chunks of chunks that do the steps of K."""
    return [[*chunks_of(op)][-1] for op in contracting_reductions(launch)]


def reads_along_k(launch: tile.LaunchOp) -> bool:
    """True if K is the innermost axis of something that is read."""
    return any(
        isinstance(load, loop.LoadOp) and stride(load, op.axis) == 1
        for op in innermost(launch)
        for load in op.body.block.ops
    )


def neighbours(elements: int) -> int:
    """Number of the `elements` of a thread that lie side by side, for one access to move them."""
    return next(width for width in WIDTHS if elements % width == 0)


def register_tile_sizes(
    launch: tile.LaunchOp, rows: Sequence[int], columns: Sequence[int]
) -> list[tuple[int, int]]:
    """
    Tiles of so many `rows` and `columns` a thread. The best guess comes first, the largest up to 8
    by 8 that leaves a block threads enough; then those most like it.
    """
    tiles = [*product(rows, columns)]
    best = min(tiles, key=lambda each: _preference(launch, each))
    return sorted(tiles, key=lambda each: _distance(each, best))


def _preference(launch: tile.LaunchOp, tile: tuple[int, int]) -> tuple[float, ...]:
    (fm, fn), (m, n) = tile, m_n_axes(launch)
    if m.extent % fm or n.extent % fn:
        return 2, 0, 0, 0
    threads = launch.num_threads // (fm * fn)
    outside = max(_FEWEST_THREADS / threads, threads / _MOST_THREADS, 1)
    return 1, outside, -min(fm * fn, 64), abs(log2(fm / fn)) + (fm > fn) / 2


def _distance(tile: tuple[int, int], other: tuple[int, int]) -> float:
    return sum(abs(log2(a / b)) for a, b in zip(tile, other, strict=True))


def registers_with(launch: tile.LaunchOp, steps: Mapping[SSAValue, int]) -> int:
    """
    Estimate the registers of a thread that does so many `steps` of each of those axes: it holds
    each value that varies along such an axis as often.
    """
    known: dict[Operation, frozenset[BlockArgument]] = {}

    def copies(value: SSAValue) -> int:
        if not isinstance(value.owner, Operation):
            return 1
        return prod(steps.get(axis, 1) for axis in varies_along(value.owner, known))

    return estimated_registers(launch.kernel.body.block, copies)


def reason_against_registers(
    launch: tile.LaunchOp, steps: Mapping[SSAValue, int], target: Target
) -> str | None:
    """Reason why the registers of a thread do not allow so many `steps` of those axes, or None."""
    needed, most = registers_with(launch, steps), target.max_registers_per_thread
    if needed <= most:
        return None
    return f"about {needed} registers a thread, of which {target.name} has {most}"
