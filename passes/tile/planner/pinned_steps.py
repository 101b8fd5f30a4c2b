# SPDX-License-Identifier: Apache-2.0
"""
Planning around pinned steps: planned steps that name `plan-schedules` are pins, and the planner
decides all other options.

    loop.kernel @mm(...) -> (...) { ... } planned "plan-schedules,chunk-matmul-k{bk=32}"

The pinned options narrow the planner's choices one after the other. An option that no choice has (a
chunk of 64) narrows nothing. The option replaces the planner's value, and its pass raises an error
if the value is impossible.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from xdsl.utils.arg_spec import ArgSpec, ParameterListType

from tilewright.dialects.schedule import ScheduleAttr
from tilewright.passes.scheduling_steps import FIRST, PLAN, scheduling_steps

Choice = TypeVar("Choice")
Options = dict[str, ParameterListType]


def narrowed(
    choices: Sequence[Choice], pinned: ScheduleAttr, steps_of: Callable[[Choice], ScheduleAttr]
) -> Sequence[Choice]:
    """
    Return the choices, in their order, narrowed by one pinned option after the other to those with
    its value. An option whose value no remaining choice has narrows nothing.
    """
    options = {choice: _options_by_step(steps_of(choice)) for choice in choices}
    for step, option, value in _pins(pinned):
        agreeing = [c for c in choices if options[c].get(step, {}).get(option) == value]
        choices = agreeing or choices
    return choices


def _pins(pinned: ScheduleAttr) -> Iterator[tuple[str, str, ParameterListType]]:
    """Yield step, option and value of each pinned option."""
    for step, options in _options_by_step(pinned).items():
        for option, value in options.items():
            yield step, option, value


def _options_by_step(steps: ScheduleAttr) -> dict[str, Options]:
    return {step.name: step.normalize_parameter_names().parameters for step in steps.steps}


def with_pins(planned: ScheduleAttr, pinned: ScheduleAttr) -> ScheduleAttr:
    """
    Return the planned steps, with the options of pinned steps added or replaced, in the order in
    which `to-tile` runs them.
    """
    steps = _options_by_step(planned)
    for name, options in _options_by_step(pinned).items():
        if name != PLAN:
            steps[name] = {**steps.get(name, {}), **options}
    order = [FIRST, *(step.name for step in scheduling_steps())]
    known = sorted((name for name in steps if name in order), key=order.index)
    others = [name for name in steps if name not in order]
    return ScheduleAttr.of(ArgSpec(name, steps[name]) for name in (*known, *others))
