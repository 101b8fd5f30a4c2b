# SPDX-License-Identifier: Apache-2.0
"""
The next alternatives for a kernel: every choice of options that one pass has for it, and no use of
the pass at all.

The first alternative is the planner's choice, as far as it is legal for the kernel. The pass's own
choices follow in their order, and skipping the pass comes last. Some passes cannot be skipped:
without threads, all but one lane of a warp would be idle, and a block has a limited size.
`mark-unroll` closes the schedule; its option `limit=1` unrolls nothing.

A pinned step is not skipped, and all of its alternatives have the pinned options.
"""

from collections.abc import Sequence

from xdsl.utils.exceptions import PassFailedException

from tilewright.dialects import tile
from tilewright.dialects.schedule import ScheduleAttr
from tilewright.passes.scheduling_steps import step_named
from tilewright.passes.tile.scheduling_pass import (
    SchedulingPass,
    decided,
    prefer,
    reason_to_skip,
    with_options,
)
from tilewright.tuning.pins import Options


def alternatives(
    step: SchedulingPass, launch: tile.LaunchOp, default: Options | None
) -> list[SchedulingPass | None]:
    """
    Return the choices of `step` for the launch, the best guess first; None stands for skipping it.

    `default` holds the options of the step in the planner's schedule, or None if that skips the
    step.
    """
    choices = list(prefer(step, launch))
    found = dict.fromkeys([_guess(step, launch, default, choices), *choices])
    row = step_named(step.name)
    if row is None or row.can_be_left_out(launch):
        found.setdefault(None)
    else:
        found.pop(None, None)
    return list(found)


def pinned_alternatives(
    step: SchedulingPass, launch: tile.LaunchOp, default: Options, pinned: Options
) -> list[SchedulingPass]:
    """
    Return the choices of `step` that have the `pinned` options, the best guess first; none if the
    launch cannot have these options. `default` is as for `alternatives`.
    """
    preferred = prefer(with_options(step, pinned), launch)
    choices = [
        choice
        for choice in preferred
        if pinned.items() <= choice.options().items() and choice.reason_not_possible(launch) is None
    ]
    wanted = {**default, **pinned}
    guess = _with_options(step, launch, wanted) or _with_options(step, launch, pinned)
    found = dict.fromkeys([guess, *choices])
    return [choice for choice in found if choice is not None]


def _guess(
    step: SchedulingPass,
    launch: tile.LaunchOp,
    default: Options | None,
    choices: Sequence[SchedulingPass],
) -> SchedulingPass | None:
    """
    Return the planner's choice; None if it skips the pass. If the choice is not legal now, return
    the pass's own first choice, or None if the pass would skip the launch.
    """
    if default is None:
        return None
    if default:
        agreeing = (choice for choice in choices if default.items() <= choice.options().items())
        if (found := next(agreeing, None) or _with_options(step, launch, default)) is not None:
            return found
    return choices[0] if choices and _is_worth_it(step, launch) else None


def _is_worth_it(step: SchedulingPass, launch: tile.LaunchOp) -> bool:
    """
    True if the pass would change the launch when its kernel's plan names the pass, as the planner's
    schedule does. Kernels of a space have no plan, so the kernel gets one for the question.
    """
    kernel = launch.kernel
    before, kernel.planned = kernel.planned, ScheduleAttr.parse(step.name)
    try:
        return reason_to_skip(step, launch) is None
    finally:
        kernel.planned = before


def _with_options(
    step: SchedulingPass, launch: tile.LaunchOp, default: Options
) -> SchedulingPass | None:
    """
    Return the pass that a pipeline with the options `default` would run, or None if they are not
    possible.
    """
    try:
        found = decided(step, launch, default)
    except PassFailedException:
        return None
    return None if isinstance(found, str) else found
