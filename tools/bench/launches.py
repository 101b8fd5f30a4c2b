# SPDX-License-Identifier: Apache-2.0
"""
Times of each launch of a program alone, with the limits on its speed.

The launches first run in order, so that each reads the results of earlier ones. Then each is
recorded and timed by itself, over copies of its inputs, as a whole program is. A single launch
finds no data of its predecessor in the cache, and does not overlap with others. Therefore the sum
of all times exceeds the time of the program.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tilewright.codegen.launch_plan import Launch, Plan
from tilewright.codegen.report import kernel_costs
from tilewright.codegen.runtime.driver import Driver
from tilewright.codegen.runtime.loaded_plan import LoadedPlan
from tilewright.codegen.runtime.tensors import loaders
from tilewright.codegen.timing.device import Call, Device
from tilewright.codegen.timing.look import look, turns_of
from tilewright.codegen.timing.protocol import Protocol
from tilewright.codegen.timing.roofline import HALF_TYPES, Work
from tilewright.codegen.timing.samples import Timing
from tilewright.passes.cost.launch_cost import KernelCost
from tilewright.tools.bench.contest import RECORDINGS, Contest, losing_device
from tilewright.tools.bench.contestants import OURS, Ours
from tilewright.tools.bench.row import Row
from tilewright.tools.bench.single_launch import SingleLaunch, single_launch
from tilewright.tools.bench.workload import Workload

PROTOCOL = Protocol(warm_up_us=20e3, measured_us=100e3)
"""Measuring protocol of a launch; the warm-up is short, since a contest has just run."""


@dataclass(frozen=True)
class LaunchClock:
    """Clock for the launches of a plan on a device."""

    device: Device
    driver: Driver
    target: str
    protocol: Protocol = PROTOCOL

    def rows(self, plan: Plan, costs: Mapping[str, KernelCost], inputs: Sequence[Any]) -> list[Row]:
        """
        Return a row for each launch, in order. `inputs` are the program's tensors on the device,
        and `costs` the costs of the kernels by name.
        """
        pairs = zip(loaders(plan, self.driver.device), inputs, strict=True)
        buffers = {number: pair[0].load(pair[1]) for number, pair in enumerate(pairs)}
        found: list[Row] = []
        functions = LoadedPlan(plan, self.driver, self.target).functions
        for position, launch in enumerate(plan.launches):
            alone = single_launch(plan, position)
            loaded = LoadedPlan(alone.plan, self.driver, self.target, functions=functions)
            given = [buffers[number] for number in alone.reads]
            results = loaded(given)
            buffers.update(zip(alone.writes, results, strict=True))
            time = self._timing(alone, loaded, given)
            cost = costs[launch.kernel]
            work = _work(plan, launch, cost)
            floor = self.device.peaks.floor_us(work)
            figures = {"floor_us": floor, "roofline": floor / time.us}
            figures |= {"flops": work.flops, "bytes": work.bytes}
            shape = {"kernel": launch.kernel, "grid": launch.grid, "block": launch.block}
            found.append({**shape, **time._asdict(), **figures})
        total = sum(row["us"] for row in found)
        return [{**row, "share": row["us"] / total} for row in found]

    def _timing(self, alone: SingleLaunch, loaded: LoadedPlan, given: Sequence[Any]) -> Timing:
        turns = turns_of(alone.plan, self.device.l2_bytes)
        copies = [given, *([t.clone() for t in given] for _ in range(turns.copies - 1))]
        calls = [_call(loaded, copy) for copy in copies]
        recordings = [self.device.record(calls) for _ in range(RECORDINGS)]
        return look(self.protocol, recordings, self.device.timer(turns.needs_flush), turns.copies)


def each_launch(contest: Contest, workload: Workload) -> list[Row]:
    """
    Return a row for each of Tilewright's launches. Raises `DeviceLostError` if a kernel fails.
    """
    ours, device = contest.contestants[OURS], contest.device
    assert isinstance(ours, Ours)
    compiled = ours.compiled(workload)
    costs = kernel_costs(compiled.kernel_ir, compiled.cuda_ir)
    inputs = workload.copy(device.torch_device).values
    clock = LaunchClock(device, ours.driver, ours.target)
    with losing_device(OURS):
        return clock.rows(compiled.plan, costs, inputs)


def _work(plan: Plan, launch: Launch, cost: KernelCost) -> Work:
    """Return the work of a launch. All products count as those of half types if it reads any."""
    flops = int(cost.flops)
    reads_half = any(plan.buffers[number].dtype.name in HALF_TYPES for number in launch.inputs)
    return Work(flops, cost.global_bytes, flops if reads_half else 0)


def _call(loaded: LoadedPlan, inputs: Sequence[Any]) -> Call:
    return lambda: loaded(inputs)
