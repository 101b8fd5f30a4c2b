# SPDX-License-Identifier: Apache-2.0
"""The axes, factors and registers of register tiles (`register-tile`)."""

from collections.abc import Mapping
from math import prod

from xdsl.ir import BlockArgument, Operation, SSAValue

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Role
from tilewright.dialects.target import Target
from tilewright.dialects.tile import varies_along
from tilewright.dialects.tile.attributes import Axis
from tilewright.passes.cost.live_registers import estimated_registers
from tilewright.passes.tile.contracting_reductions import chunks_of, contracting_reductions

FACTORS = (1, 2, 4, 8, 16)
"""Rows or columns of a contraction that a thread may have, or neighbours of any other launch."""

WIDTHS = (4, 2, 1)
"""Elements of 4 bytes that one access moves, the most first."""


def last_axis(launch: tile.LaunchOp) -> list[Axis]:
    """Return the last thread axis that has several steps, if there is one."""
    return [axis for axis in launch.thread_axes() if axis.extent > 1][-1:]


def m_n_axes(launch: tile.LaunchOp) -> list[Axis]:
    """
    Return the thread axes of a contraction: along m and along n; nothing for any other launch.
    """
    found = [axis for axis in launch.thread_axes() if axis.role in (Role.M, Role.N)]
    return found if [axis.role for axis in found] == [Role.M, Role.N] else []


def innermost(launch: tile.LaunchOp) -> list[loop.ReduceOp]:
    """Contractions, or the chunks of chunks that do the steps of K."""
    return [[*chunks_of(op)][-1] for op in contracting_reductions(launch)]


def neighbours(elements: int) -> int:
    """Number of the `elements` of a thread that lie side by side, for one access to move them."""
    return next(width for width in WIDTHS if elements % width == 0)


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
