# SPDX-License-Identifier: Apache-2.0
"""
How long a kernel takes by what its machine code says: NVRTC compiles it, nobody runs it.

Registers, spills and the instructions of loops are as they will be, which no model of IR knows. It
takes a second or so for each schedule; so it is for those few that a model likes best:

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
"""Schedules that are worth compiling."""


def evidence(kernel: str, schedule: str, target: str) -> Measurement:
    """
    Return the estimate for a kernel, of which there is the text at Loop IR, compiled with a
    schedule.

    Raises `NvrtcUnavailable`, which is no fault of the schedule.
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
    """Return the schedules that took the least time, the fastest first; of equals the first."""
    fastest = sorted((m for m in measurements if m.us is not None), key=microseconds)
    return [*dict.fromkeys(m.schedule for m in fastest)][:count]
