# SPDX-License-Identifier: Apache-2.0
"""
Schedules launches: decides what a pass does to each, has it done, and writes it down.

The values of a pass's options are

- those that the pipeline gives;
- else those that are `planned` for the kernel; where steps are planned, none of them of this pass,
  the launch is skipped;
- what is still open is as in the first choice that agrees, of those that are preferred. If all is
  open, the launch is skipped where that is better.

Passes know what is possible. What is wise is in the table of steps (`scheduling_steps.py`):

- the module of a step's taste has `prefer`, and may have `reason_to_skip`;
- else its cost puts the choices in order, and it is skipped where none costs less than to do
  without;
- else the choices come in the order of the pass's questions.

What was done is added to the kernel's `schedule`; a step with other options than planned drops the
planned steps.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from functools import lru_cache
from itertools import chain
from typing import TypeVar

from xdsl.pattern_rewriter import PatternRewriter
from xdsl.utils.arg_spec import ArgSpec, ParameterListType

from tilewright.dialects import tile
from tilewright.dialects.target import Target
from tilewright.errors import UsageError
from tilewright.passes.driver.pipeline_string import configure
from tilewright.passes.facts.remembered import Memory, remembered, unchanged
from tilewright.passes.reporting.refusal import refused
from tilewright.passes.reporting.trace import is_listening, skipped
from tilewright.passes.scheduling_steps import SchedulingStep, step_called
from tilewright.passes.tile.kernel_schedule import blamed_on_planned_steps, take_planned
from tilewright.passes.tile.scheduling_pass import SchedulingPass, carry_out

LEFT_OUT = "not among the planned steps"
"""Skip reason: no step of this pass is planned, or it has been done."""

Step = TypeVar("Step", bound=SchedulingPass)


def prefer(step: Step, launch: tile.LaunchOp) -> Iterable[Step]:
    """
    `step` with values for all its options that are possible; the best guess first, and often all
    that is asked for. Where it has options already, those that differ from them may be left out.
    """
    row = step_called(step.name)
    if row is not None and row.taste:
        return row.resolved(row.taste).prefer(step, launch)
    if row is None or not row.cost:
        return step.possible(launch)
    return [choice for _, choice in _ranked(row, step, launch)]


def reason_to_skip(step: SchedulingPass, launch: tile.LaunchOp) -> str | None:
    """Reason why the launch had better stay unchanged, or None."""
    row = step_called(step.name)
    if row is not None and row.taste:
        taste = row.resolved(row.taste)
        return taste.reason_to_skip(step, launch) if hasattr(taste, "reason_to_skip") else None
    if row is None or not row.cost:
        return None
    ranked, without = _ranked(row, step, launch), _cost(row, None, launch, step.gpu)
    if not ranked or ranked[0][0] < without:
        return None
    return f"it costs {without:g} without, and at best {ranked[0][0]:g} with it"


@remembered
def _ranked(row: SchedulingStep, step: Step, launch: tile.LaunchOp) -> Sequence[tuple[float, Step]]:
    """Return the possible choices with their costs, the lowest first."""
    costs = ((_cost(row, choice, launch, step.gpu), choice) for choice in step.possible(launch))
    return sorted(costs, key=lambda each: each[0])


def _cost(
    row: SchedulingStep, choice: SchedulingPass | None, launch: tile.LaunchOp, gpu: Target
) -> float:
    """Return the cost of a choice by the row's function; `UsageError` if that gives no number."""
    cost = row.resolved(row.cost)(choice, launch, gpu)
    if isinstance(cost, int | float) and cost == cost:
        return cost
    what = "without the step" if choice is None else f"of '{choice.step()}'"
    raise UsageError(f"'{row.cost}' gives {cost!r} as the cost {what}, which is no number")


def schedule(step: SchedulingPass, launch: tile.LaunchOp) -> None:
    """Decide, rewrite, and write down what was done."""
    kernel = launch.kernel
    with blamed_on_planned_steps(kernel):
        is_left_out = kernel.planned is not None and not kernel.planned.names(step.name)
    if is_left_out and not step.options() and not is_listening():
        return  # no remark is asked for either
    with Memory() as memory:
        with unchanged(memory):
            chosen = chosen_for(step, launch)
        if isinstance(chosen, str):
            skipped(step.RULE, kernel, chosen)
            return
        carry_out(chosen, launch, PatternRewriter(launch), memory)


def chosen_for(step: SchedulingPass, launch: tile.LaunchOp) -> SchedulingPass | str:
    """
    Return the pass with its options, or why the launch is left alone; it is no longer planned then.
    """
    if (reason := step.reason_against(launch)) is not None:
        return reason
    kernel, given = launch.kernel, step.options()
    with blamed_on_planned_steps(kernel):
        planned = take_planned(kernel, step.name)
    if planned is None and kernel.planned is not None and not given:
        return LEFT_OUT
    options = {} if planned is None else planned.normalize_parameter_names().parameters
    if given and not given.items() <= options.items():
        kernel.planned, options = None, given
    with blamed_on_planned_steps(kernel):  # options that are given were understood before
        return decided(step, launch, options)


def decided(
    step: SchedulingPass, launch: tile.LaunchOp, options: Mapping[str, ParameterListType]
) -> SchedulingPass | str:
    """
    Return the pass with values for all its options, some of which are given, or why the launch is
    left alone; `PlacedPassError` if it cannot have what is given.
    """
    if not options and (reason := reason_to_skip(step, launch)) is not None:
        return reason
    is_open = any(field.name not in options for field in fields(step) if field.name != "target")
    asked = _configured(step, options) if options else step
    choices = iter(prefer(asked, launch)) if is_open else iter(())
    best = next(choices, None)
    if not options and best is None and (reason := asked.reason_not_possible(launch)) is not None:
        return reason
    for choice in () if best is None else chain([best], choices):  # all of which are possible
        if options.items() <= choice.options().items():
            return choice
    return _completed(asked, best, options, launch)


def _completed(
    asked: SchedulingPass,
    best: SchedulingPass | None,
    options: Mapping[str, ParameterListType],
    launch: tile.LaunchOp,
) -> SchedulingPass:
    """
    Return the best choice with these options in the place of its own; an error if that cannot be.
    """
    guess = {} if best is None else best.options()
    complete = asked.completed(guess, dict(options))
    chosen = asked if complete == options else _configured(asked, complete)
    if (reason := chosen.reason_not_possible(launch)) is not None:
        name = launch.kernel.sym_name.data
        raise refused(launch, f"cannot do '{chosen.step()}' in @{name}: {reason}")
    return chosen


def _configured(step: SchedulingPass, options: Mapping[str, ParameterListType]) -> SchedulingPass:
    given = {**options, "target": (step.target,)}
    kinds = tuple([tuple(map(type, values)) for values in given.values()])
    return _configured_once(type(step), tuple(given.items()), kinds)


@lru_cache(maxsize=1 << 12)
def _configured_once(
    kind: type[SchedulingPass], options: tuple[tuple[str, ParameterListType], ...], _kinds: object
) -> SchedulingPass:
    """Return the pass with options; 1 and `true` are equal, and differ by their kinds."""
    return configure(kind, ArgSpec(kind.name, dict(options)), "pass")
