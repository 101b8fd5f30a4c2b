# SPDX-License-Identifier: Apache-2.0
"""
A kernel's time by the clock, which simulates its machine code (`codegen/report/clock`); NVRTC
compiles it, but it is not run. Without nvdisasm it is the report's estimate.

Registers, spills and the instructions of loops are exact, unlike in a model of IR. A schedule takes
two or three seconds, so only the few schedules that a model ranks best are compiled:

    for schedule in shortlist(measurements):
        evidence(str(kernel), schedule, "sm_90a")
"""

from collections.abc import Iterable

from tilewright.codegen.nvrtc_library import NvrtcUnavailable
from tilewright.codegen.report import KernelEvidence, report_of
from tilewright.codegen.report.disassemble import find_nvdisasm
from tilewright.dialects.target import target as target_named
from tilewright.passes.driver.lowering import REFUSED
from tilewright.tuning.evaluators.compiled import in_a_line, scheduled
from tilewright.tuning.measurement import Measurement
from tilewright.tuning.search.frame import microseconds

SHORTLIST = 50
"""Number of schedules worth compiling."""


def evaluator() -> str:
    """Return the name of the source of the times, for keys of a database."""
    return "evidence" if find_nvdisasm() is None else "clock"


def evidence(kernel: str, schedule: str, target: str) -> Measurement:
    """
    Return the time of a kernel, given as text at Loop IR, compiled with a schedule.

    Raises `NvrtcUnavailable`, which is not caused by the schedule.
    """
    try:
        report = report_of(scheduled(kernel, schedule), target_named(target))
    except NvrtcUnavailable:
        raise
    except REFUSED as err:
        return Measurement(schedule, None, in_a_line(err))
    seconds = [_seconds(each) for each in report.kernels]
    if None in seconds:
        return Measurement(schedule, None, "not even one block fits on a multiprocessor")
    return Measurement(schedule, 1e6 * sum(filter(None, seconds)))


def _seconds(kernel: KernelEvidence) -> float | None:
    """Return the seconds of a launch; None if no block fits."""
    if kernel.estimate is None:
        return None
    return kernel.estimate.seconds if kernel.clock is None else kernel.clock.seconds


def shortlist(measurements: Iterable[Measurement], count: int = SHORTLIST) -> list[str]:
    """Return the schedules with the shortest times, the fastest first, each once."""
    fastest = sorted((m for m in measurements if m.us is not None), key=microseconds)
    return [*dict.fromkeys(m.schedule for m in fastest)][:count]
