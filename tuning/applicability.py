# SPDX-License-Identifier: Apache-2.0
"""Whether a schedule from elsewhere, perhaps of another version, still does what it says."""

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
    Return the first of schedules that nothing speaks against; of those before it a remark says
    what.
    """
    for schedule, known in candidates:
        if (reason := reason_against(schedule)) is None:
            return schedule, known
        skipped(rule, site, f"'{schedule}' does not apply ({known}): {reason}")
    return None


def reason_against_schedule(kernel: loop.KernelOp, schedule: str, target: str) -> str | None:
    """
    Reason why `kernel`, a nest of Loop IR, cannot be made with `schedule`, or None.

    It is tried, as far as CUDA. A step that pins options and does nothing is a reason too: what was
    measured had it.
    """
    copy = kernel.clone()
    copy.planned = ScheduleAttr.parse(schedule)
    alone = ModuleOp([copy])
    try:
        with listening(None):
            lowered = lower(alone, Level.CUDA, target=target)
        check_kernels(kernels_of(lowered), target)
    except Exception as err:  # of whatever kind: nobody has asked for this schedule
        return _first_line(err)
    for steps in planned_and_idle(alone, lowered).values():
        for step in steps:
            if step.parameters:
                return f"'{spec_text(step)}' does nothing"
    return None


def reason_against_fusion(program: ModuleOp, schedule: str, target: str) -> str | None:
    """
    Reason why `program`, at Tensor IR, cannot be fused as `schedule` says, or None.

    It is tried, as far as CUDA, unless it is the default. A decision that does not come up is a
    reason too.
    """
    if schedule == DEFAULT:
        return None
    try:
        fused = fuse(program, fusion_of(schedule), target)
        with listening(None):
            check_kernels(kernels_of(lower(fused.nests, Level.CUDA, target=target)), target)
    except Exception as err:  # of whatever kind: nobody has asked for this schedule
        return _first_line(err)
    return f"'{fused.idle[0]}' does not come up" if fused.idle else None


def _first_line(err: Exception) -> str:
    return str(err).strip().split("\n")[0] or type(err).__name__
