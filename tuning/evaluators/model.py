# SPDX-License-Identifier: Apache-2.0
"""
How long a scheduled kernel takes, by a model that looks at its Tile IR only: a few milliseconds for
each schedule, without NVRTC and without a GPU.

    model("sm_90a")(space.kernel(leaf))

The ledger's estimate is the same for all schedules that do the same arithmetic on the same bytes;
so what launches do (`tile_work`) goes into the estimate that reports make of machine code instead.
The slowest part decides there. Here each of the others adds a little, since nothing is hidden
completely: else all schedules that wait for device memory would be as good as each other.
"""

from collections.abc import Callable

from tilewright.codegen.report.estimate import estimate
from tilewright.dialects import loop, tile
from tilewright.dialects.target import LAUNCH_SECONDS
from tilewright.dialects.target import target as target_named
from tilewright.tuning.evaluators.tile_work import tile_work
from tilewright.tuning.measurement import Measurement

_SEEN_OF_HIDDEN = 0.1
"""The share of its time that a part takes which others hide."""


def model(target: str) -> Callable[[loop.KernelOp], Measurement]:
    """What measures kernels at Tile IR, each with the schedule that it carries."""
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
        seconds = slowest + _SEEN_OF_HIDDEN * (sum(parts) - slowest) + LAUNCH_SECONDS
        return Measurement(schedule, 1e6 * seconds)

    return measure
