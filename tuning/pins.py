# SPDX-License-Identifier: Apache-2.0
"""
Default schedule of a search, and the parts of it that the user has fixed.

The planned steps of a kernel are pins. A search varies the rest:

    planned "plan-schedules,chunk-matmul-k{bk=32}"         all options except bk
    planned "tileify,blockify-launch{m=8 n=32},mark-unroll"   the option of mark-unroll

Steps beside `plan-schedules` are in each schedule, with the options that they have. Planned steps
without `plan-schedules` also exclude the steps that they do not name, up to their last one. A
planned step that does nothing in the default schedule is no pin.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.arg_spec import ArgSpec, ParameterListType

from tilewright.dialects import loop
from tilewright.dialects.schedule import ScheduleAttr
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import lower
from tilewright.passes.reporting.trace import listening
from tilewright.passes.scheduling_steps import PLAN, steps_in_order
from tilewright.passes.tile.idle_steps import planned_and_idle
from tilewright.passes.tile.planner.plan_schedules import PlanSchedulesPass

Options = Mapping[str, ParameterListType]


class Pins(NamedTuple):
    """Default schedule of a kernel, and what all schedules of a search have in common."""

    default: Sequence[ArgSpec]
    """Steps of the default schedule; options that are missing are decided by the passes."""
    options: Mapping[str, Options] = {}
    """Pinned steps, with their pinned options."""
    excluded: Collection[str] = ()
    """Steps that no schedule has."""


def pins_of(kernel: loop.KernelOp, target: str) -> Pins:
    """
    Return the pins of a kernel at Loop IR, by its planned steps. Raises the error of a planned step
    that is not possible.
    """
    module, pinned = ModuleOp([kernel.clone()]), kernel.planned
    with listening(None):
        PlanSchedulesPass(target).apply(Context(), module)
        default = _only_kernel(module).planned
        assert default is not None
        if pinned is None:
            return Pins(default.steps)
        lowered = lower(module, Level.TILE, target=target)
    idle = planned_and_idle(ModuleOp([kernel.clone()]), lowered).get(kernel.sym_name.data, [])
    held = {
        step.name: step.normalize_parameter_names().parameters
        for step in pinned.steps
        if step.name != PLAN and step not in idle
    }
    if pinned.names(PLAN):
        return Pins(default.steps, held)
    made = _only_kernel(lowered)
    assert made.schedule is not None
    return Pins(made.schedule.steps, held, _excluded(pinned, is_open=made.planned is None))


def _only_kernel(module: ModuleOp) -> loop.KernelOp:
    (kernel,) = (op for op in module.ops if isinstance(op, loop.KernelOp))
    return kernel


def _excluded(planned: ScheduleAttr, is_open: bool) -> list[str]:
    """
    Return the steps that do not run because the planned ones do not name them. Steps behind the
    last one run if the schedule `is_open`: all planned steps have run.
    """
    order, named = steps_in_order(), [step.name for step in planned.steps]
    end = order.index(named[-1]) if is_open else len(order)
    return [name for name in order[:end] if name not in named]
