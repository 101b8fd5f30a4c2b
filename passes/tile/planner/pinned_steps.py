# SPDX-License-Identifier: Apache-2.0
"""
Planning around pinned steps: planned steps that name `plan-schedules` are pins, and the planner
decides all other options.

    loop.kernel @mm(...) -> (...) { ... } planned "plan-schedules,chunk-matmul-k{bk=32}"

The pinned options narrow the planner's choices one after the other. A step is *replaced* if choices
decide it, and it has an option whose value no choice has (a chunk of 64). From the first replaced
step on, the schedule has pinned options only, and each pass decides its other options: the
planner's depend on the value that is replaced. Steps that no choice decides, such as pads and steps
of packages, only get their pinned options.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TypeVar

from xdsl.utils.arg_spec import ArgSpec, ParameterListType

from tilewright.dialects.schedule import ScheduleAttr, parse_spec_list
from tilewright.errors import UsageError
from tilewright.passes.scheduling_steps import FIRST, PLAN, steps_in_order

Choice = TypeVar("Choice")
Options = dict[str, ParameterListType]


def check_pins(pinned: ScheduleAttr) -> None:
    """Raise `UsageError` if a step is pinned twice."""
    names = [step.name for step in pinned.steps]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"'{twice}' is pinned twice", remedy="give all its options in one step")


def narrowed(
    choices: Sequence[Choice],
    pinned: ScheduleAttr,
    pipeline_of: Callable[[Choice], Sequence[str]],
) -> tuple[Sequence[Choice], Collection[str]]:
    """
    Return the choices, in their order, narrowed by one pinned option after the other to those with
    its value, and the replaced steps. `pipeline_of` returns the steps of a choice as texts.
    """
    replaced: set[str] = set()
    for step, option, value in _pins(pinned):
        agreeing = [c for c in choices if _options(pipeline_of(c), step).get(option) == value]
        if not agreeing and any(_options(pipeline_of(c), step) for c in choices):
            replaced.add(step)
        choices = agreeing or choices
    return choices, replaced


def _pins(pinned: ScheduleAttr) -> Iterator[tuple[str, str, ParameterListType]]:
    """Yield step, option and value of each pinned option, except how to lift a kernel."""
    for step, options in _options_by_step(pinned).items():
        for option, value in options.items():
            if step != FIRST:
                yield step, option, value


def _options(pipeline: Sequence[str], name: str) -> Options:
    """Return the options of one step; only its text is parsed, as there are many choices."""
    for text in pipeline:
        if text.partition("{")[0] == name:
            return _of(parse_spec_list(text)[0])
    return {}


def _options_by_step(steps: ScheduleAttr) -> dict[str, Options]:
    return {step.name: _of(step) for step in steps.steps if step.name != PLAN}


def _of(step: ArgSpec) -> Options:
    return step.normalize_parameter_names().parameters


def with_pins(
    planned: ScheduleAttr, pinned: ScheduleAttr, replaced: Collection[str]
) -> ScheduleAttr:
    """
    Return the planned steps with the pinned ones, in the order in which `to-tile` runs them. Steps
    from the first `replaced` one on keep only their pinned options.
    """
    order = steps_in_order()
    first = min((order.index(name) for name in replaced if name in order), default=len(order))
    steps, pins = _options_by_step(planned), _options_by_step(pinned)
    known = [
        ArgSpec(name, {**(steps.get(name, {}) if at < first else {}), **pins.get(name, {})})
        for at, name in enumerate(order)
        if name in steps or name in pins
    ]
    others = [ArgSpec(name, pins[name]) for name in pins if name not in order]
    return ScheduleAttr.of([*known, *others])


def pinned_lift(pinned: ScheduleAttr) -> bool | None:
    """Return the pinned answer whether `tileify` lifts columns, or None."""
    options = _options_by_step(pinned).get(FIRST, {})
    (columns,) = options.get("columns", (None,))
    return columns if isinstance(columns, bool) else None
