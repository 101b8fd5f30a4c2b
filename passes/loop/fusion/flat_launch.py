# SPDX-License-Identifier: Apache-2.0
"""Launches whose kernel is a flat nest: what fusion can compute somewhere else."""

from typing import NamedTuple

from xdsl.ir import SSAValue

from tilewright.dialects import loop
from tilewright.passes.facts.nest import FlatNest, flat_nest
from tilewright.passes.loop.plan_index import PlanIndex


class FlatLaunch(NamedTuple):
    """A launch, its kernel, and the kernel's one nest."""

    launch: loop.LaunchOp
    kernel: loop.KernelOp
    nest: FlatNest

    @property
    def buffer(self) -> SSAValue:
        """What it writes."""
        return self.launch.outputs[0]


def flat_launch(plan: PlanIndex, launch: loop.LaunchOp, *, reduces: bool) -> FlatLaunch | None:
    """`launch` if its kernel is a flat nest that reduces, or one that does not, as asked for."""
    kernel = plan.kernel_of(launch)
    if kernel is None or (reduces and not plan.reduces(kernel)):
        return None
    if (nest := flat_nest(kernel)) is None or nest.reduces is not reduces:
        return None
    return FlatLaunch(launch, kernel, nest)
