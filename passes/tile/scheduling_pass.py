# SPDX-License-Identifier: Apache-2.0
"""
Base of all passes that schedule launches, and the driver of each: it decides the values of the
options, has the launch rewritten, and records the step.

The value of an option is

- the value that the pipeline gives;
- else the value in the kernel's `planned` step. If steps are planned, but none of this pass, the
  launch is skipped;
- else its value in the first of the preferred choices that has the values above. If no value is
  given or planned, the launch is skipped where that is better.

A pass knows what is possible (`scheduling_decision.py`). The row of the pass in the table of steps
(`scheduling_steps.py`) knows what is preferred:

- the module of its taste has `prefer`, and may have `reason_to_skip`;
- else its cost ranks the choices, and the launch is skipped if none costs less than no choice;
- else the choices come in the order of the pass's questions.

The step is added to the kernel's `schedule`. A step with other options than the planned ones drops
all planned steps.
"""

from abc import ABC
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from itertools import chain
from typing import TypeVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.utils.arg_spec import ArgSpec, ParameterListType

from tilewright.dialects import tile
from tilewright.dialects.target import Target
from tilewright.errors import UsageError
from tilewright.passes.driver.pipeline_string import configure
from tilewright.passes.facts.memoised import Memory, memoised, unchanged
from tilewright.passes.reporting.refusal import refused
from tilewright.passes.reporting.trace import is_listening, skipped
from tilewright.passes.scheduling_steps import SchedulingStep, step_named
from tilewright.passes.tile.kernel_schedule import errors_of_planned_steps, take_planned
from tilewright.passes.tile.scheduling_decision import NOT_DECIDED, SchedulingDecision, carry_out

NOT_PLANNED = "not among the planned steps"
"""Skip reason: the planned steps do not name the pass, or no longer."""


@dataclass(frozen=True)
class SchedulingPass(SchedulingDecision, ABC):
    """A pass that makes one decision about each launch of a module."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Schedule each launch of the module."""
        for launch in tile.launches_of(op):
            schedule(self, launch)


Step = TypeVar("Step", bound=SchedulingPass)


def schedule(step: SchedulingPass, launch: tile.LaunchOp) -> None:
    """Decide the options of `step` for the launch, rewrite the launch, and record the step."""
    kernel = launch.kernel
    with errors_of_planned_steps(kernel):
        is_skipped = kernel.planned is not None and not kernel.planned.names(step.name)
    if is_skipped and not step.options() and not is_listening():
        return  # without a listener there is no remark
    with Memory() as memory:
        with unchanged(memory):
            chosen = take_choice(step, launch)
        if isinstance(chosen, str):
            skipped(step.RULE, kernel, chosen)
            return
        carry_out(chosen, launch, PatternRewriter(launch), memory)


def take_choice(step: SchedulingPass, launch: tile.LaunchOp) -> SchedulingPass | str:
    """
    Return the pass with all its options, or the skip reason. Remove the step, and those before it,
    from the kernel's planned steps.
    """
    if (reason := step.reason_against(launch)) is not None:
        return reason
    kernel, given = launch.kernel, step.options()
    with errors_of_planned_steps(kernel):
        planned = take_planned(kernel, step.name)
    if planned is None and (step.planned_only or (kernel.planned is not None and not given)):
        return NOT_PLANNED
    options = {} if planned is None else planned.normalize_parameter_names().parameters
    if given and not given.items() <= options.items():
        kernel.planned, options = None, given
    with errors_of_planned_steps(kernel):  # options that are given were understood before
        return decided(step, launch, options)


def decided(
    step: SchedulingPass, launch: tile.LaunchOp, options: Mapping[str, ParameterListType]
) -> SchedulingPass | str:
    """
    Return the pass with all its options, among them the given `options`, or the skip reason.

    Raises `PlacedPassError` if the launch cannot have the given options.
    """
    if not options and (reason := reason_to_skip(step, launch)) is not None:
        return reason
    is_open = any(f.name not in options for f in fields(step) if f.name not in NOT_DECIDED)
    asked = with_options(step, options) if options else step
    choices = iter(prefer(asked, launch)) if is_open else iter(())
    best = next(choices, None)
    if not options and best is None and (reason := asked.reason_not_possible(launch)) is not None:
        return reason
    for choice in () if best is None else chain([best], choices):
        if options.items() <= choice.options().items():
            return _possible(choice, launch) if options else choice
    return _completed(asked, best, options, launch)


def prefer(step: Step, launch: tile.LaunchOp) -> Iterable[Step]:
    """
    Return `step` with each possible combination of options, the best guess first. Where it has some
    options already, choices with other values of them may be missing.
    """
    row = step_named(step.name)
    if row is not None and row.taste:
        return row.resolved(row.taste).prefer(step, launch)
    if row is None or not row.cost:
        return step.possible(launch)
    return [choice for _, choice in _ranked(row, step, launch)]


def reason_to_skip(step: SchedulingPass, launch: tile.LaunchOp) -> str | None:
    """
    Reason why the launch is better left unchanged by the pass, according to its taste or its cost,
    or None.
    """
    row = step_named(step.name)
    if row is not None and row.taste:
        taste = row.resolved(row.taste)
        return taste.reason_to_skip(step, launch) if hasattr(taste, "reason_to_skip") else None
    if row is None or not row.cost:
        return None
    ranked, without = _ranked(row, step, launch), _cost(row, None, launch, step.gpu)
    if not ranked or ranked[0][0] < without:
        return None
    return f"it costs {without:g} without, and at best {ranked[0][0]:g} with it"


@memoised
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
    subject = "without the step" if choice is None else f"of '{choice.step()}'"
    raise UsageError(f"'{row.cost}' gives {cost!r} as the cost {subject}, which is no number")


def _completed(
    asked: SchedulingPass,
    best: SchedulingPass | None,
    options: Mapping[str, ParameterListType],
    launch: tile.LaunchOp,
) -> SchedulingPass:
    """
    Return a pass with the given options, where no preferred choice has all of them; other options
    are those of `best`.

    Raises `PlacedPassError` if the launch cannot have these options.
    """
    guess = {} if best is None else best.options()
    complete = asked.completed(guess, dict(options))
    chosen = asked if complete == options else with_options(asked, complete)
    return _possible(chosen, launch)


def _possible(chosen: SchedulingPass, launch: tile.LaunchOp) -> SchedulingPass:
    """Return `chosen`; raises `PlacedPassError` if the launch cannot have its options."""
    if (reason := chosen.reason_not_possible(launch)) is not None:
        name = launch.kernel.sym_name.data
        raise refused(launch, f"cannot do '{chosen.step()}' in @{name}: {reason}")
    return chosen


def with_options(step: SchedulingPass, options: Mapping[str, ParameterListType]) -> SchedulingPass:
    """Return the pass with these options and no others, for the same target."""
    given = {**options, "target": (step.target,)}
    kinds = tuple([tuple(map(type, values)) for values in given.values()])
    return _configured_once(type(step), tuple(given.items()), kinds)


@lru_cache(maxsize=1 << 12)
def _configured_once(
    kind: type[SchedulingPass], options: tuple[tuple[str, ParameterListType], ...], _kinds: object
) -> SchedulingPass:
    """
    Return the pass with options. `_kinds` distinguishes 1 from `true`, which are equal as keys.
    """
    return configure(kind, ArgSpec(kind.name, dict(options)), "pass")
