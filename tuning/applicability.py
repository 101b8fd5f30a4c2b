# SPDX-License-Identifier: Apache-2.0
"""
Check that a stored schedule, perhaps of another version, still has the effect that it describes.
"""

from collections.abc import Callable, Iterable

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tilewright.codegen.printer import kernels_of
from tilewright.codegen.target_limits import check_kernels
from tilewright.dialects import loop
from tilewright.dialects.schedule import ScheduleAttr, spec_text
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import lower
from tilewright.passes.reporting.trace import Rule, listening, skipped
from tilewright.passes.tile.idle_steps import planned_and_idle
from tilewright.tuning.fusion_schedule import DEFAULT, fusion_of
from tilewright.tuning.fusions import fuse
from tilewright.tuning.knowledge import Known


def first_that_applies(
    rule: Rule,
    site: Operation,
    candidates: Iterable[tuple[str, Known]],
    reason_against: Callable[[str], str | None],
) -> tuple[str, Known] | None:
    """
    Return the first candidate for which `reason_against` gives None; None if there is none. Report
    the reasons against the candidates before it in the trace, as skips of `rule`.
    """
    for schedule, known in candidates:
        if (reason := reason_against(schedule)) is None:
            return schedule, known
        skipped(rule, site, f"'{schedule}' does not apply ({known}): {reason}")
    return None


def reason_against_schedule(kernel: loop.KernelOp, schedule: str, target: str) -> str | None:
    """
    Reason why `kernel`, a nest of Loop IR, cannot be lowered with `schedule`, or None.

    The kernel is lowered to CUDA as a trial. A step with given options that does nothing is a
    reason too, since the measured kernel had the step.
    """
    copy = kernel.clone()
    copy.planned = ScheduleAttr.parse(schedule)
    alone = ModuleOp([copy])
    try:
        with listening(None):
            lowered = lower(alone, Level.CUDA, target=target)
        check_kernels(kernels_of(lowered), target)
    except Exception as err:  # of any kind: the user did not request this schedule
        return _first_line(err)
    for steps in planned_and_idle(alone, lowered).values():
        for step in steps:
            if step.parameters:
                return f"'{spec_text(step)}' does nothing"
    return None


def reason_against_fusion(program: ModuleOp, schedule: str, target: str) -> str | None:
    """
    Reason why `program`, at Tensor IR, cannot be fused as `schedule` says, or None.

    The program is lowered to CUDA as a trial, unless the schedule is the default. A decision that
    no pass reaches is a reason too.
    """
    if schedule == DEFAULT:
        return None
    try:
        fused = fuse(program, fusion_of(schedule), target)
        with listening(None):
            check_kernels(kernels_of(lower(fused.nests, Level.CUDA, target=target)), target)
    except Exception as err:  # of any kind: the user did not request this schedule
        return _first_line(err)
    return f"'{fused.idle[0]}' is never reached" if fused.idle else None


def _first_line(err: Exception) -> str:
    return str(err).strip().split("\n")[0] or type(err).__name__
