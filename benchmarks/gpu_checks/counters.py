# SPDX-License-Identifier: Apache-2.0
"""
Stage `counters`: sectors of global memory and wavefronts of shared memory, counted by the simulator
and by the hardware through Nsight Compute.

Plain loads and stores must agree. Asynchronous copies are reported but not judged, because GPUs
differ in the counters that contain them. The loads of `micro` check `PARTNERS` of
passes/cost/banks.py. Reference: Nsight Compute CLI, `--csv --page raw`; Kernel Profiling Guide,
"Metrics Structure".
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gpu_checks.device import Device
from gpu_checks.launched import LAUNCHED, LOADED, SAMPLE, launcher, prepared
from gpu_checks.micro import MICROS, loads_of_block
from gpu_checks.outcome import Compared, Outcome, missing, right, wrong
from gpu_checks.tool import last_line, output_of
from tilewright.dialects.target import target as target_named
from tilewright.tools.toolkit import find_tool


class Metric(NamedTuple):
    """Metric of Nsight Compute with a counterpart among the simulator's counters."""

    name: str
    space: str
    operation: str
    """Kind of access (`ld`, `st`), as in `codegen/simulator/counters.py`."""


_SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_"
_WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_"
METRICS = (
    Metric(f"{_SECTORS}ld.sum", "global", "ld"),
    Metric(f"{_SECTORS}st.sum", "global", "st"),
    Metric(f"{_WAVEFRONTS}ld.sum", "shared", "ld"),
    Metric(f"{_WAVEFRONTS}st.sum", "shared", "st"),
)
RECORDED_METRICS = (
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "lts__t_sectors_op_read.sum",
    "lts__t_sectors_op_write.sum",
    "gpu__time_duration.sum",
    "launch__shared_mem_config_size",  # shared memory, as split by the driver
    "sm__warps_active.avg.pct_of_peak_sustained_active",
)
"""Metrics of Nsight Compute that are recorded, but compared with nothing."""

TOLERANCE = {"global": 0.01, "shared": 0.05}
"""
Allowed relative difference between simulator and hardware, by memory space; the compiler may drop
an access or do one twice.
"""

_LOADS = "loads"
"""Name of the check that profiles all shared-memory loads that `micro` times."""

_COPIES = ("cp", "bulk")
_NO_PERMISSION = "ERR_NVGPUCTRPERM"

Kernel = Mapping[str, float]
"""Metrics of a launch, by Nsight Compute's names."""


def items(device: Device) -> list[str]:
    """Return the programs and the loads of shared memory to check; none without a GPU."""
    return [_LOADS, *SAMPLE] if device.is_gpu else []


def check(device: Device, item: str) -> Outcome:
    """
    Profile a program with ncu and simulate it; return the outcome of comparing the counters of each
    launch.
    """
    from tilewright.codegen.simulator_backend import SimulatorBackend

    path = find_tool("ncu")
    if path is None:
        return missing("ncu is not found")
    if item == _LOADS:
        kernels = list(dict.fromkeys(MICROS[name].kernel for name in LOADED))
        text = _profile(path, kernels, launcher(device, LOADED))
        return no_profile(text) or judged_loads([*profiled(text)], device.target)
    _, plan, inputs = prepared(item, device.target)
    names = list(dict.fromkeys(launch.kernel for launch in plan.launches))
    text = _profile(path, names, launcher(device, [item]))
    if (problem := no_profile(text)) is not None:
        return problem
    measured = [metrics for name, metrics in profiled(text) if name in names]
    simulated = SimulatorBackend(device.target).run(plan, inputs).kernels
    if len(measured) != len(simulated) or f"{LAUNCHED}{item}" not in text:
        return wrong(f"{len(simulated)} launches, but ncu reports {len(measured)}")
    pairs = zip(measured, simulated, strict=True)
    return judged([(run.launch.kernel, metrics, run.counters) for metrics, run in pairs])


def _profile(path: str, kernels: Sequence[str], command: Sequence[str]) -> str:
    """Return the output of ncu; if ncu rejects metrics, it runs again without them."""
    asked = [*(metric.name for metric in METRICS), *RECORDED_METRICS]
    _, text = output_of([path, *options(kernels, asked), *command])
    if no_profile(text) is None or not (refused := unknown(text, asked)):
        return text
    known = [name for name in asked if name not in refused]
    return output_of([path, *options(kernels, known), *command])[1]


def unknown(text: str, asked: Sequence[str]) -> list[str]:
    """Return the names of metrics in `asked` that ncu rejects, by its output."""
    complaints = [line for line in text.splitlines() if line.startswith(("==ERROR", "==WARNING"))]
    return [name for name in asked if any(name in line for line in complaints)]


def options(kernels: Sequence[str], metrics: Sequence[str]) -> list[str]:
    """Return the options of ncu: only our kernels, clocks unchanged, one row per launch."""
    return [
        *("--csv", "--page", "raw", "--print-units", "base", "--metrics", ",".join(metrics)),
        *("--clock-control", "none", "--target-processes", "all"),
        *("--kernel-name-base", "function", "--kernel-name", f"regex:^({'|'.join(kernels)})$"),
    ]


def no_profile(text: str) -> Outcome | None:
    """
    Return the outcome `missing` if the output of ncu says why there are no counters; None if there
    are.
    """
    if _NO_PERMISSION in text:
        return missing("ncu may not read the GPU's counters here (ERR_NVGPUCTRPERM)")
    if any(line.startswith('"ID"') for line in text.splitlines()):
        return None
    errors = [line for line in text.splitlines() if line.startswith("==ERROR==")]
    return missing(f"ncu gives no counters: {errors[0] if errors else last_line(text)}")


def profiled(text: str) -> Iterator[tuple[str, Kernel]]:
    """
    Yield the kernels and metrics in the output of `ncu --csv`, in the order of launches.

    The page `raw` has a row for each launch below a row of units; other pages have a row for each
    metric.
    """
    lines = text.splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith('"ID"'))
    rows = list(csv.DictReader(line for line in lines[start:] if line.startswith('"')))
    found: dict[str, tuple[str, dict[str, float]]] = {}
    for row in rows:
        if not row["ID"]:
            continue
        _, metrics = found.setdefault(row["ID"], (row["Kernel Name"], {}))
        given = {row["Metric Name"]: row["Metric Value"]} if "Metric Name" in row else row
        metrics.update((name, number) for name, number in _numbers(given))
    yield from found.values()


def _numbers(row: Mapping[str, str]) -> Iterator[tuple[str, float]]:
    for name, value in row.items():
        try:
            number = float(value.replace(",", ""))
        except ValueError:
            continue  # a text, or "n/a"
        if "__" in name:
            yield name, number


def judged_loads(launches: Sequence[tuple[str, Kernel]], target: str) -> Outcome:
    """
    Return the outcome of comparing the wavefronts of each shared-memory load with the model of
    banks.
    """
    metric = f"{_WAVEFRONTS}ld.sum"
    if len(launches) != len(LOADED):
        return wrong(f"{len(LOADED)} launches, but ncu reports {len(launches)}")
    if not all(metric in metrics for _, metrics in launches):
        return missing(f"ncu does not report {metric}")
    found: dict[str, Compared] = {}
    for name, (_, metrics) in zip(LOADED, launches, strict=True):
        micro = MICROS[name]
        measured = metrics[metric] / loads_of_block(name)
        found[name] = Compared(
            micro.assumed(target_named(target)), measured, "wavefronts", micro.what
        )
    differ = [name for name, each in found.items() if each.measured != each.assumed]
    figures = {name: each._asdict() for name, each in found.items()}
    if differ:
        first = found[differ[0]]
        says = f"{len(differ)} of {len(found)} loads differ from cost/banks.py; {differ[0]}: "
        says += f"{first.measured:g} wavefronts, assumed {first.assumed:g}"
        return wrong(says, compared=figures)
    return right(f"{len(found)} loads take what passes/cost/banks.py says", compared=figures)


def judged(launches: Sequence[tuple[str, Kernel, Any]]) -> Outcome:
    """
    Return the outcome of comparing hardware metrics with the simulator's counters, for launches
    given as (name, metrics, counters).
    """
    wrongs: list[str] = []
    absent: set[str] = set()
    figures: dict[str, Any] = {}
    for number, (name, metrics, counters) in enumerate(launches):
        seen: dict[str, Any] = {key: metrics[key] for key in RECORDED_METRICS if key in metrics}
        for metric in METRICS:
            if metric.name not in metrics:
                absent.add(metric.name)
                continue
            ours, theirs = _counted(counters, metric), metrics[metric.name]
            seen[f"{metric.space} {metric.operation}"] = [ours, theirs]
            has_copies = any(
                a.operation in _COPIES for a in counters.accesses if a.space == metric.space
            )
            if not has_copies and abs(ours - theirs) > TOLERANCE[metric.space] * max(ours, theirs):
                what = "sectors" if metric.space == "global" else "wavefronts"
                wrongs.append(f"{name}: {metric.operation} {what} {theirs:g}, simulated {ours}")
        figures[f"{number} {name}"] = seen
    if wrongs:
        return wrong("; ".join(wrongs), **figures)
    if absent:
        return missing(f"ncu does not report {', '.join(sorted(absent))}", **figures)
    return right(f"{len(launches)} launches agree", **figures)


def _counted(counters: Any, metric: Metric) -> int:
    mine = (metric.space, metric.operation)
    return sum(a.transactions for a in counters.accesses if (a.space, a.operation) == mine)
