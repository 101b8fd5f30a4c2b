# SPDX-License-Identifier: Apache-2.0
"""
An estimate of a scheduled kernel's time from its Tile IR only: a few milliseconds per schedule,
without NVRTC and without a GPU.

    model("sm_90a")(space.kernel(leaf))

The ledger's estimate is equal for all schedules that do the same arithmetic on the same bytes.
Therefore this model feeds the work of the launch (`tile_work`) into the estimate that reports make
from machine code. In estimates from machine code, the slowest part determines the time. In this
model, each other part adds a small share, since nothing is hidden completely. Without these shares,
all schedules that wait for device memory would be equal.
"""

from collections.abc import Callable

from tilewright.codegen.report.estimate import estimate
from tilewright.dialects import loop, tile
from tilewright.dialects.target import LAUNCH_SECONDS
from tilewright.dialects.target import target as target_named
from tilewright.tuning.evaluators.tile_work import tile_work
from tilewright.tuning.measurement import Measurement

_SHARE_NOT_HIDDEN = 0.1
"""Share of its time that a part adds although slower parts hide it."""


def model(target: str) -> Callable[[loop.KernelOp], Measurement]:
    """
    Return a function that estimates the time of a kernel at Tile IR with the schedule it carries.
    """
    machine = target_named(target)

    def measure(kernel: loop.KernelOp) -> Measurement:
        launch = kernel.body.block.last_op
        schedule = "" if kernel.schedule is None else kernel.schedule.data
        assert isinstance(launch, tile.LaunchOp)
        work = tile_work(launch, machine)
        if not work.resident_blocks:
            return Measurement(schedule, None, "not even one block fits on a multiprocessor")
        parts = estimate(work, machine).parts.values()
        slowest = max(parts)
        seconds = slowest + _SHARE_NOT_HIDDEN * (sum(parts) - slowest) + LAUNCH_SECONDS
        return Measurement(schedule, 1e6 * seconds)

    return measure
