# SPDX-License-Identifier: Apache-2.0
"""Steps that a pipeline or the planned steps of a kernel request, and that did nothing."""

from collections.abc import Iterator, Mapping, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec

from tilewright.dialects import loop, tile
from tilewright.dialects.kernel_like import KernelLikeOp
from tilewright.dialects.schedule import ScheduleAttr
from tilewright.passes.driver.pipelines import passes_of
from tilewright.passes.scheduling_steps import PLAN
from tilewright.passes.tile.scheduling_pass import SchedulingPass


def schedules(module: ModuleOp) -> list[str | None]:
    """Return the schedule of each kernel so far, or None for a kernel without one."""
    kernels = (op for op in module.ops if isinstance(op, loop.KernelOp))
    return [None if op.schedule is None else op.schedule.data for op in kernels]


def is_idle(step: ModulePass, before: Sequence[str | None], module: ModuleOp) -> bool:
    """
    True if `step` was given options, and changed no kernel's schedule; `before` holds the schedules
    before it ran.
    """
    if not isinstance(step, SchedulingPass) or not step.options():
        return False
    return schedules(module) == before


def planned_and_idle(before: ModuleOp, after: ModuleOp) -> dict[str, list[ArgSpec]]:
    """
    Return, by kernel, the steps that were planned `before` and are missing from its schedule
    `after`. Kernels that are not scheduled yet are not among them.
    """
    done = {name: _schedule(op) for op in after.ops if (name := _scheduled_name(op)) is not None}
    missing = ((op.sym_name.data, _missing(op, done)) for op in planned_kernels(before))
    return {name: steps for name, steps in missing if steps}


def planned_kernels(module: ModuleOp) -> Iterator[loop.KernelOp]:
    """Yield the kernels that have planned steps."""
    return (op for op in module.ops if isinstance(op, loop.KernelOp) and op.planned is not None)


def steps_to_come(module: ModuleOp) -> dict[str, Sequence[ArgSpec]]:
    """Return the planned steps that have not run yet, by kernel."""
    return {op.sym_name.data: _planned(op) for op in planned_kernels(module)}


def _planned(kernel: loop.KernelOp) -> Sequence[ArgSpec]:
    """Return the planned steps of a kernel, except `plan-schedules`."""
    steps = () if kernel.planned is None else kernel.planned.steps
    return [step for step in steps if step.name != PLAN]


def _scheduled_name(op: Operation) -> str | None:
    """Return the name of the kernel `op` if it has been scheduled, else None."""
    if isinstance(op, loop.KernelOp):
        return op.sym_name.data if isinstance(op.body.block.last_op, tile.LaunchOp) else None
    return op.sym_name.data if isinstance(op, KernelLikeOp) else None


def _schedule(op: Operation) -> Sequence[ArgSpec]:
    """Return the steps of the kernel's schedule."""
    assert isinstance(op, KernelLikeOp)
    return () if op.schedule is None else op.schedule.steps


def _missing(kernel: loop.KernelOp, schedules: Mapping[str, Sequence[ArgSpec]]) -> list[ArgSpec]:
    """
    Return the planned steps of a kernel that are not in its schedule; none if it is not scheduled
    yet.
    """
    schedule = schedules.get(kernel.sym_name.data)
    if schedule is None:
        return []
    left = [*schedule[len(_schedule(kernel)) :]]
    missing: list[ArgSpec] = []
    for step in _planned(kernel):
        done = next((each for each in left if _fulfils(each, step)), None)
        if done is None:
            missing.append(step)
        else:
            left.remove(done)
    return missing


def _fulfils(done: ArgSpec, step: ArgSpec) -> bool:
    """
    True if `done` is the pass that `step` names, with at least the options of `step`; options with
    their default values are not recorded.
    """
    if done.name != step.name:
        return False
    asked, given = passes_of(ScheduleAttr.of([step, done]).data)
    return asked.spec().parameters.items() <= given.spec().parameters.items()
