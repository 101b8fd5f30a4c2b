# SPDX-License-Identifier: Apache-2.0
"""
The two pipelines that a kernel carries while it is scheduled: `planned`, the steps still to run,
and `schedule`, the steps that have run.

    loop.kernel @mm(...) -> (...) { ... } schedule "tileify,async-copy" planned "mark-unroll"
"""

from collections.abc import Generator
from contextlib import contextmanager

from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.utils.arg_spec import ArgSpec

from tilewright.dialects import loop
from tilewright.dialects.origin import place_of
from tilewright.dialects.schedule import ScheduleAttr
from tilewright.errors import UsageError
from tilewright.passes.driver.pipelines import NamedPipeline, passes_of
from tilewright.passes.scheduling_steps import added_steps, steps_in_order


def take_planned(kernel: loop.KernelOp, name: str) -> ArgSpec | None:
    """
    Remove the planned steps up to the first one called `name`, and return that step; None if there
    is none.
    """
    if kernel.planned is None:
        return None
    step, behind = kernel.planned.taken(name)
    if step is not None:
        kernel.planned = behind
    return step


def record(kernel: loop.KernelOp, step: str, rewriter: PatternRewriter) -> None:
    """Add a step that has run to the kernel's schedule."""
    done = kernel.schedule
    kernel.schedule = ScheduleAttr(step) if done is None else done.followed_by(step)
    rewriter.notify_op_modified(kernel)


def is_scheduled(kernel: loop.KernelOp, name: str) -> bool:
    """True if the pass of that name is a step of the kernel's schedule."""
    return kernel.schedule is not None and kernel.schedule.names(name)


def planned_passes(planned: ScheduleAttr) -> tuple[ModulePass, ...]:
    """
    Return the passes of a kernel's planned steps.

    Raises `UsageError` for an unknown pass, a pipeline for whole programs, and a step with an
    option that drivers set: all kernels have the program's target, and `planned_only` is for
    pipelines.
    """
    for spec in planned.steps:
        if "target" in spec.parameters:
            problem = f"'{spec.name}' has a target of its own, and all kernels have the program's"
            raise UsageError(problem, remedy="leave it out; --target sets it for the program")
        if "planned_only" in spec.normalize_parameter_names().parameters:
            problem = f"'{spec.name}' is planned: the option 'planned_only' is for pipelines"
            raise UsageError(problem, remedy="leave it out")
    steps = passes_of(planned.data)
    for step in steps:
        if isinstance(step, NamedPipeline):
            problem = f"'{step.name}' lowers a program from level to level, and schedules no kernel"
            remedy = "leave it out: kernels are lowered once they are scheduled"
            raise UsageError(problem, remedy=remedy)
    return steps


@contextmanager
def errors_of_planned_steps(kernel: loop.KernelOp) -> Generator[None]:
    """
    Raise a `UsageError` of the `with` body again, as an error in the kernel's planned steps at its
    place.
    """
    try:
        yield
    except UsageError as err:
        message = f"the planned steps of @{kernel.sym_name.data}: {err}"
        raise UsageError(message, where=place_of(kernel)) from err


def with_added_steps(schedule: ScheduleAttr) -> ScheduleAttr:
    """
    Return the schedule with the steps of installed packages that have a heuristic (`taste`) or a
    cost function (`cost`), in the order of all steps.
    """
    if not (added := [ArgSpec(step.name, {}) for step in added_steps() if step.is_offered]):
        return schedule
    order = steps_in_order()
    return ScheduleAttr.of(
        sorted([*schedule.steps, *added], key=lambda step: order.index(step.name))
    )
