# SPDX-License-Identifier: Apache-2.0
"""
Stage `micro`: small kernels (`micro.cu`) that measure the constants of the models of time, one
constant each.

The outcomes are never wrong: the assumed and the measured figures are recorded, and `disagreements`
ranks them. Without a GPU the kernels are only compiled.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gpu_checks.device import Device
from gpu_checks.micro_launch import (
    REPEATS,
    SOURCE,
    bandwidth,
    chased,
    clocks,
    queued,
    replayed,
)
from gpu_checks.outcome import Compared, Outcome, right
from tilewright.codegen.report.critical_path import DEVICE_LATENCY, L2_LATENCY
from tilewright.codegen.report.estimate import REACHED_BANDWIDTH
from tilewright.dialects.target import LAUNCH_SECONDS, SCHEDULERS, Target
from tilewright.dialects.target import target as target_named
from tilewright.dialects.tile import Join
from tilewright.passes.cost.shared_banks import wavefronts_at
from tilewright.passes.cost.time_models import JOIN, MEMORY

_WARPS = 8
"""Number of warps in a block that counts clocks: two for each scheduler."""

IN_A_REPEAT: Mapping[str, tuple[str, int]] = {
    "lds_4": ("LDS", 64),
    "lds_8": ("LDS.64", 64),
    "lds_16": ("LDS.128", 64),
    "ffma": ("FFMA", 256),
    "ffma_free": ("FFMA", 256),
    "mufu": ("MUFU.EX2", 64),
    "hmma": ("HMMA.16816.F32.BF16", 32),
    "hgmma": ("HGMMA.64x128x16.F32.BF16", 32),
    "barrier": ("BAR.SYNC.DEFER_BLOCKING", 64),
    **{f"cluster_{size}": ("UCGABAR_ARV", 16) for size in (2, 4, 8)},
}
"""
Name of the SASS instruction that each kernel measures in clocks, and how often it occurs in one
repeat.
"""

LANES: Mapping[str, Callable[[int], int]] = {
    "uniform": lambda lane: 0,
    "halves": lambda lane: lane // 16,
    "quarters": lambda lane: lane // 8,
    "pairs": lambda lane: lane // 2,
    "squares": lambda lane: lane // 4 * 2 + lane % 2,
    "repeated": lambda lane: lane % 16,
    "columns": lambda lane: lane % 8,
    "distinct": lambda lane: lane,
    "apart": lambda lane: 2 * lane,
}
"""
Functions from a lane's number to the index of the element that it loads, by pattern; register tiles
load in these patterns.
"""


@dataclass(frozen=True)
class Micro:
    """Measurement of one constant of the models of time."""

    unit: str
    what: str
    """Constant that is measured, with the file that holds it; or the purpose of the measurement."""
    assumed: Callable[[Target], float | None]
    measured: Callable[[Device], float]
    kernel: str
    is_on: Callable[[Target], bool] = lambda target: True


def items(device: Device) -> list[str]:
    """
    Return the measurements that the target's kernels allow; without a GPU, the file with the
    kernels.
    """
    if not device.is_gpu:
        return [SOURCE.name]
    target = target_named(device.target)
    return [name for name, micro in MICROS.items() if micro.is_on(target)]


def check(device: Device, item: str) -> Outcome:
    """
    Take one measurement, and return its outcome; without a GPU, only compile the file with all
    kernels.
    """
    if item == SOURCE.name:
        device.backend().driver.compile_ahead([SOURCE.read_text()], device.target)
        return right(f"compiles; {len(MICROS)} measurements on a GPU")
    micro = MICROS[item]
    return judged(micro, micro.assumed(target_named(device.target)), micro.measured(device))


def judged(micro: Micro, assumed: float | None, measured: float) -> Outcome:
    """Return the outcome, which is always right, with the measured and the assumed figure."""
    found, model = (_figure_text(figure, micro.unit) for figure in (measured, assumed))
    says = f"{found}; assumed: {model}, {micro.what}"
    compared = Compared(assumed, measured, micro.unit, micro.what)
    return right(says, compared={"": compared._asdict()})


def _figure_text(figure: float | None, unit: str) -> str:
    return "nothing" if figure is None else f"{figure:.4g} {unit}"


def starts(size: int, pattern: str) -> tuple[int, ...]:
    """
    Return the byte offset at which each of the 32 lanes of a warp loads `size` bytes, by a pattern
    in `LANES`.
    """
    return tuple(size * LANES[pattern](lane) for lane in range(32))


def _loads(size: int, pattern: str) -> Micro:
    """
    Return a measurement: clocks that shared memory takes for one load of a warp, with `size` bytes
    a lane.
    """
    at, kernel = starts(size, pattern), f"lds_{size}"
    loads = _WARPS * IN_A_REPEAT[kernel][1] * REPEATS
    return Micro(
        "clocks",
        "PARTNERS of passes/cost/banks.py",
        lambda target: wavefronts_at(at, size).actual,
        lambda device: clocks(device, kernel, _WARPS, at) / loads,
        kernel,
    )


def loads_of_block(name: str) -> int:
    """
    Return the number of warp loads in a launch of a measurement, including those outside of the
    timed repeats.
    """
    return _WARPS * IN_A_REPEAT[MICROS[name].kernel][1] * (REPEATS + 1)


def launch_loads(device: Device, name: str) -> None:
    """Launch a measurement `lds.SIZE.PATTERN` once."""
    _, size, pattern = name.split(".")
    clocks(device, MICROS[name].kernel, _WARPS, starts(int(size), pattern), rounds=1)


def _issued(
    kernel: str,
    what: str,
    assumed: Callable[[Target], float | None],
    is_on: Callable[[Target], bool] = lambda target: True,
) -> Micro:
    """Return a measurement: clocks between two instructions that one scheduler issues."""
    of_scheduler = _WARPS // SCHEDULERS * IN_A_REPEAT[kernel][1] * REPEATS
    return Micro(
        "clocks",
        what,
        assumed,
        lambda device: clocks(device, kernel, _WARPS) / of_scheduler,
        kernel,
        is_on,
    )


def _ffma_clocks(target: Target) -> float:
    return 32 * SCHEDULERS / target.fp32_lanes


def _waited(kernel: str, what: str, assumed: Callable[[Target], float | None]) -> Micro:
    """Return a measurement: clocks between two barriers of all warps of a block."""
    barriers = IN_A_REPEAT[kernel][1] * REPEATS
    return Micro(
        "clocks", what, assumed, lambda device: clocks(device, kernel, _WARPS) / barriers, kernel
    )


def _cluster(size: int) -> Micro:
    kernel = f"cluster_{size}"
    barriers = IN_A_REPEAT[kernel][1] * REPEATS
    return Micro(
        "clocks",
        "JOIN of passes/cost/time_models.py, which has two barriers",
        lambda target: JOIN[Join.CLUSTER] * target.clock / 2,
        lambda device: clocks(device, kernel, _WARPS, cluster=size) / barriers,
        kernel,
        lambda target: target.has_clusters,
    )


def _flight(depth: int, warps: int) -> Micro:
    """
    Return a measurement: memory bandwidth with `depth` vectors of 16 bytes in flight per thread.
    """
    bytes_on_the_way = depth * 16 * 32 * warps

    def assumed(target: Target) -> float:
        by_waiting = target.sms * bytes_on_the_way / MEMORY
        return min(REACHED_BANDWIDTH * target.bandwidth, by_waiting) / 1e12

    return Micro(
        "TB/s",
        f"MEMORY of passes/cost/time_models.py, {bytes_on_the_way >> 10} KiB of an SM on the way",
        assumed,
        lambda device: bandwidth(device, depth, warps),
        f"flight_{depth}",
    )


def _chase(what: str, assumed: float, mebibytes: int, warms: bool) -> Micro:
    return Micro(
        "clocks",
        what,
        lambda target: assumed,
        lambda device: chased(device, mebibytes, 4096, warms),
        "chase",
    )


def _no_model(target: Target) -> float | None:
    return None


MICROS: Mapping[str, Micro] = {
    **{f"lds.{size}.{pattern}": _loads(size, pattern) for size in (16, 8, 4) for pattern in LANES},
    "ffma": _issued(
        "ffma",
        "Target.ffma_lanes; more than ffma.free where three registers are of one bank",
        lambda target: 32 * SCHEDULERS / target.ffma_lanes,
    ),
    "ffma.free": _issued("ffma_free", "Target.fp32_lanes", _ffma_clocks),
    "mufu": _issued("mufu", "16 lanes of an SM, codegen/report/estimate.py", lambda target: 8),
    "hmma": _issued("hmma", "Target.mma_clocks", lambda target: target.mma_clocks),
    "hgmma": _issued(
        "hgmma",
        "16 times Target.peak_mma_clocks",
        lambda target: 16 * target.peak_mma_clocks,
        lambda target: target.has_warpgroups,
    ),
    "barrier": _waited("barrier", "8 warps, for passes/tile/planner/tiling.py", _no_model),
    **{f"cluster.{size}": _cluster(size) for size in (2, 4, 8)},
    "latency.l2": _chase("L2_LATENCY of critical_path.py", L2_LATENCY, 8, warms=True),
    "latency.memory": _chase(
        "DEVICE_LATENCY of critical_path.py", DEVICE_LATENCY, 512, warms=False
    ),
    **{
        f"flight.{depth * warps // 2}k": _flight(depth, warps)
        for depth, warps in ((1, 8), (1, 16), (2, 16), (4, 16), (8, 16), (8, 32))
    },
    "launch": Micro(
        "us",
        "LAUNCH_SECONDS of target.py",
        lambda _: 1e6 * LAUNCH_SECONDS,
        replayed,
        "nothing",
    ),
    "launch.queued": Micro("us", "the host, a driver's call", _no_model, queued, "nothing"),
}
"""Measurements by name."""
