# SPDX-License-Identifier: Apache-2.0
"""
Rows of `bench --published`: the estimated time of a case beside its published times. A row has the
fields of a measured one (`row`), with estimates for times and additional fields.
"""

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any, cast

from tilewright.codegen.report import KernelEvidence, report_of
from tilewright.codegen.timing.roofline import Peaks
from tilewright.dialects.target import target as target_named
from tilewright.errors import UsageError
from tilewright.frontend.capture import capture
from tilewright.tools.bench.published_case import PublishedCase
from tilewright.tools.bench.row import Row
from tilewright.tools.bench.row_check import wrong_field
from tilewright.tools.bench.work import work_of
from tilewright.tools.input.source import set_precision
from tilewright.tuning.knowledge import Db
from tilewright.tuning.known_schedules import with_known_schedules

BETTER = "vs_better"
"""Field with the ratio of the better published time to ours."""

BETTER_BY_ESTIMATE = "estimate_vs_better"
"""Field of the same ratio where our time is the report's estimate instead of the clock."""

CLOCK, ESTIMATE = "clock", "estimate"
"""Values of the field `model`: the model that `us` is from."""

_RATIOS = ("vs_eager", "vs_compile", BETTER, BETTER_BY_ESTIMATE)
_NO_ESTIMATE: Row = {
    **dict.fromkeys(("us", "clock_us", "estimate_us", *_RATIOS)),
    **dict.fromkeys(("roofline", "floor_us", "tflops", "tbytes")),
    **{"model": "", "bound": "", "waits": "", "notes": [], "kernels": []},
}


def estimated(published: PublishedCase, target: str, db: Db, precision: str | None) -> Row:
    """
    Return the row of a case with the schedules in the database `db`. `precision` replaces the
    case's own precision of float32 products.
    """
    program = published.case.program(fake=True)
    captured = capture(program.module, program.args, program.kwargs)
    word = precision or published.precision
    set_precision(captured.module, word)
    machine = target_named(target)
    report = report_of(with_known_schedules(captured.module, target, db), machine)
    if not report.kernels:
        raise UsageError("its expression needs no kernel")
    clock_us, estimate_us = _sum(report.kernels, _clock_us), _sum(report.kernels, _estimate_us)
    us = estimate_us if clock_us is None else clock_us
    if us is None:
        raise UsageError(f"no estimate for {target}")
    work = work_of(captured)
    peaks = Peaks(machine.flops, machine.bandwidth, machine.tensor_flops)
    floor_us = peaks.floor_us(work, allows_tf32=word != "highest")
    tflops, tbytes = work.rates(us)
    slowest = max(report.kernels, key=lambda kernel: _us(kernel))
    return {
        **published.head,
        **_NO_ESTIMATE,
        **ratios(published.head, us, estimate_us),
        "us": us,
        "model": ESTIMATE if clock_us is None else CLOCK,
        "clock_us": clock_us,
        "estimate_us": estimate_us,
        "roofline": floor_us / us,
        "floor_us": floor_us,
        "tflops": tflops,
        "tbytes": tbytes,
        "bound": "" if slowest.estimate is None else slowest.estimate.bound,
        "waits": "" if slowest.clock is None else slowest.clock.bound,
        "notes": [*report.notes],
        "kernels": [_kernel(kernel) for kernel in report.kernels],
        "why": _reasons(published),
        "problem": "",
    }


def failed(published: PublishedCase, problem: str) -> Row:
    """Return the row of a case that could not be estimated."""
    return {**published.head, **_NO_ESTIMATE, "why": _reasons(published), "problem": problem}


def ratios(published: Mapping[str, Any], us: float, estimate_us: float | None) -> Row:
    """
    Return the ratios of published times to ours; empty for a case that is left out. `published` has
    the published times, as the head of a row.
    """
    if published["left_out"]:
        return {}
    eager, compiled = published["eager_us"], published["compile_us"]
    better = min(each for each in (eager, compiled) if each is not None)
    return {
        "vs_eager": None if eager is None else eager / us,
        "vs_compile": None if compiled is None else compiled / us,
        BETTER: better / us,
        BETTER_BY_ESTIMATE: None if estimate_us is None else better / estimate_us,
    }


def wrong_published_field(row: object) -> str:
    """Return the first field of a stored row that is missing or wrong; empty if it is right."""
    if wrong := wrong_field(row):
        return wrong
    fields = cast(Row, row)
    why, times = fields["why"], ("clock_us", "estimate_us", BETTER, BETTER_BY_ESTIMATE)
    has_reason = bool(fields["problem"] or fields.get("left_out"))
    found = {
        **{name: isinstance(fields.get(name), str) for name in ("model", "bound", "waits")},
        **{name: name in fields and _is_time(fields[name]) for name in times},
        f"missing {BETTER}": fields.get(BETTER) is not None or has_reason,
        "left_out": isinstance(fields.get("left_out"), str),
        "notes": _are_texts(fields.get("notes")),
        "why": isinstance(why.get(BETTER), str) and isinstance(why.get(BETTER_BY_ESTIMATE), str),
    }
    return next((name for name, is_right in found.items() if not is_right), "")


def _is_time(value: Any) -> bool:
    return value is None or (type(value) in (int, float) and isfinite(value) and value > 0)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(v, str) for v in cast(list[Any], value))


def _reasons(published: PublishedCase) -> dict[str, str]:
    """Return the reason against each ratio; empty for a ratio without a reason."""
    reason = f"left out: {published.left_out}" if published.left_out else ""
    return dict.fromkeys(_RATIOS, reason)


def _kernel(kernel: KernelEvidence) -> Row:
    return {
        "kernel": kernel.name,
        "launches": kernel.launches,
        "grid": kernel.launch.grid,
        "block": kernel.launch.block,
        "clock_us": _clock_us(kernel),
        "estimate_us": _estimate_us(kernel),
        "bound": None if kernel.estimate is None else kernel.estimate.bound,
        "waits": {}
        if kernel.clock is None
        else {str(w): s for w, s in kernel.clock.shares.items()},
        "schedule": kernel.launch.schedule,
    }


def _sum(
    kernels: Sequence[KernelEvidence], us: Callable[[KernelEvidence], float | None]
) -> float | None:
    """Return the microseconds of all launches; None if those of a kernel are not known."""
    times = [(kernel.launches, us(kernel)) for kernel in kernels]
    if any(each is None for _, each in times):
        return None
    return sum(launches * (each or 0.0) for launches, each in times)


def _clock_us(kernel: KernelEvidence) -> float | None:
    return None if kernel.clock is None else 1e6 * kernel.clock.seconds


def _estimate_us(kernel: KernelEvidence) -> float | None:
    return None if kernel.estimate is None else 1e6 * kernel.estimate.seconds


def _us(kernel: KernelEvidence) -> float:
    """Return the microseconds of all launches of a kernel; 0 if they are not known."""
    launch = _clock_us(kernel)
    return kernel.launches * ((_estimate_us(kernel) if launch is None else launch) or 0.0)
