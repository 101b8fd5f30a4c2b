# SPDX-License-Identifier: Apache-2.0
"""
An estimate of a kernel's time from its machine code; NVRTC compiles it, but it is not run.

Registers, spills and the instructions of loops are exact, unlike in a model of IR. An estimate
takes about a second per schedule, so it is made only for the few schedules that a model ranks best:

    for schedule in shortlist(measurements):
        evidence(str(kernel), schedule, "sm_90a")
"""

from collections.abc import Iterable

from tilewright.codegen.nvrtc_library import NvrtcUnavailable
from tilewright.codegen.report import report_of
from tilewright.dialects.target import target as target_named
from tilewright.passes.driver.lowering import REFUSED
from tilewright.tuning.evaluators.compiled import in_a_line, scheduled
from tilewright.tuning.measurement import Measurement
from tilewright.tuning.search.frame import microseconds

SHORTLIST = 50
"""Number of schedules worth compiling."""


def evidence(kernel: str, schedule: str, target: str) -> Measurement:
    """
    Return the estimate for a kernel, given as text at Loop IR, compiled with a schedule.

    Raises `NvrtcUnavailable`, which is not caused by the schedule.
    """
    try:
        report = report_of(scheduled(kernel, schedule), target_named(target))
    except NvrtcUnavailable:
        raise
    except REFUSED as err:
        return Measurement(schedule, None, in_a_line(err))
    estimates = [each.estimate.seconds for each in report.kernels if each.estimate is not None]
    if len(estimates) < len(report.kernels):
        return Measurement(schedule, None, "not even one block fits on a multiprocessor")
    return Measurement(schedule, 1e6 * sum(estimates))


def shortlist(measurements: Iterable[Measurement], count: int = SHORTLIST) -> list[str]:
    """Return the schedules with the shortest times, the fastest first, each once."""
    fastest = sorted((m for m in measurements if m.us is not None), key=microseconds)
    return [*dict.fromkeys(m.schedule for m in fastest)][:count]
