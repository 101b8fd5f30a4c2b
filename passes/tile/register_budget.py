# SPDX-License-Identifier: Apache-2.0
"""
Registers that a thread of a launch would need if it did several steps of some axes itself: every
value that varies along such an axis it then has as often.
"""

from collections.abc import Mapping
from math import prod

from xdsl.ir import BlockArgument, Operation, SSAValue

from tilewright.dialects import tile
from tilewright.dialects.target import Target
from tilewright.dialects.tile import varies_along
from tilewright.passes.cost.live_registers import estimated_registers


def registers_with(launch: tile.LaunchOp, steps: Mapping[SSAValue, int]) -> int:
    """The estimate for a thread that does so many `steps` of each of those axes."""
    known: dict[Operation, frozenset[BlockArgument]] = {}

    def copies(value: SSAValue) -> int:
        if not isinstance(value.owner, Operation):
            return 1
        return prod(steps.get(axis, 1) for axis in varies_along(value.owner, known))

    return estimated_registers(launch.kernel.body.block, copies)


def over_budget(launch: tile.LaunchOp, steps: Mapping[SSAValue, int], target: Target) -> str | None:
    """Why a thread cannot do so many `steps` of those axes, or None: its registers."""
    needed, most = registers_with(launch, steps), target.max_registers_per_thread
    if needed <= most:
        return None
    return f"about {needed} registers a thread, of which {target.name} has {most}"
