# SPDX-License-Identifier: Apache-2.0
"""Axes, factors and registers of register tiles (`register-tile`)."""

from collections.abc import Mapping
from math import prod

from xdsl.ir import BlockArgument, Operation, SSAValue

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Role
from tilewright.dialects.target import Target
from tilewright.dialects.tile import value_varies_along
from tilewright.dialects.tile.attributes import Axis, Level
from tilewright.passes.cost.live_registers import estimated_registers
from tilewright.passes.facts.memoised import memoised
from tilewright.passes.tile.contracting_reductions import chunks_of, contracting_reductions

FACTORS = (1, 2, 4, 8, 16)
"""Numbers of rows, columns, neighbours or strips of a thread that are offered."""

WIDTHS = (4, 2, 1)
"""Numbers of 4-byte elements that one access can move, the most first."""


def last_axis(launch: tile.LaunchOp) -> list[Axis]:
    """
    Return the last thread axis that has several steps, in a list; an empty list if there is none.
    """
    return [axis for axis in launch.thread_axes() if axis.extent > 1][-1:]


def m_n_axes(launch: tile.LaunchOp) -> list[Axis]:
    """
    Return the thread axes of a contraction, along m and along n; an empty list for any other
    launch.
    """
    found = [axis for axis in launch.thread_axes() if axis.role in (Role.M, Role.N)]
    return found if [axis.role for axis in found] == [Role.M, Role.N] else []


@memoised
def innermost(launch: tile.LaunchOp) -> list[loop.ReduceOp]:
    """
    Return the reductions that do the single steps of K: contractions, or their innermost chunks.
    """
    return [[*chunks_of(op)][-1] for op in contracting_reductions(launch)]


def neighbours(elements: int) -> int:
    """Return how many of the `elements` of a thread are adjacent, so that one access moves them."""
    return next(width for width in WIDTHS if elements % width == 0)


def registers_with(launch: tile.LaunchOp, steps: Mapping[SSAValue, int]) -> int:
    """
    Return the estimated registers of a thread that does `steps` of each axis, and all steps of the
    launch's register axes. It holds a value once for each step of the axes along which the value
    varies.
    """
    return _registers_with(launch, tuple(steps.items()))


@memoised  # choices that pass this test are asked again whether they are possible
def _registers_with(launch: tile.LaunchOp, by_axis: tuple[tuple[SSAValue, int], ...]) -> int:
    steps = {a.value: a.extent for a in launch.axes_at(Level.REGISTER)} | dict(by_axis)
    known: dict[Operation, frozenset[BlockArgument]] = {}

    def copies(value: SSAValue) -> int:
        if not isinstance(value.owner, Operation):
            return 1
        return prod(steps.get(axis, 1) for axis in value_varies_along(value, known))

    return estimated_registers(launch.kernel.body.block, copies)


def reason_against_registers(
    launch: tile.LaunchOp, steps: Mapping[SSAValue, int], target: Target
) -> str | None:
    """Reason why a thread has too few registers for `steps` of each axis, or None."""
    needed, most = registers_with(launch, steps), target.max_registers_per_thread
    if needed <= most:
        return None
    return f"about {needed} registers a thread, of which {target.name} has {most}"
