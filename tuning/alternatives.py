# SPDX-License-Identifier: Apache-2.0
"""
What can be done with a kernel next: all that one pass could do to it, and to do without the pass.

The first alternative is what the planner has in mind, as far as that can be done to the kernel as
it is; then come the pass's own choices, as they are, and at last to leave it out. Some cannot be
left out: without threads all but one lane of a warp would be idle, and a block has no more than a
GPU allows. `mark-unroll` closes the schedule; who wants nothing unrolled says `limit=1`.
"""

from collections.abc import Mapping, Sequence

from xdsl.utils.arg_spec import ParameterListType
from xdsl.utils.exceptions import PassFailedException

from tilewright.dialects import tile
from tilewright.passes.scheduling_steps import step_called
from tilewright.passes.tile.scheduling_pass import SchedulingPass, decided, prefer, reason_to_skip

Options = Mapping[str, ParameterListType]


def alternatives(
    step: SchedulingPass, launch: tile.LaunchOp, default: Options | None
) -> list[SchedulingPass | None]:
    """
    What `step`, which is legal, could do to the launch, the best guess first; None to leave it out.

    `default` are the step's options in the planner's schedule, or None if that leaves the step out.
    """
    choices = list(prefer(step, launch))
    found = dict.fromkeys([_guess(step, launch, default, choices), *choices])
    row = step_called(step.name)
    if row is None or row.can_be_left_out(launch):
        found.setdefault(None)
    else:
        found.pop(None, None)
    return list(found)


def _guess(
    step: SchedulingPass,
    launch: tile.LaunchOp,
    default: Options | None,
    choices: Sequence[SchedulingPass],
) -> SchedulingPass | None:
    """Return the planner's choice; where that is impossible now, what the pass does by itself."""
    if default is None:
        return None
    if default:
        agreeing = (choice for choice in choices if default.items() <= choice.options().items())
        if (found := next(agreeing, None) or _with_options(step, launch, default)) is not None:
            return found
    is_worth_it = choices and reason_to_skip(step, launch) is None
    return choices[0] if is_worth_it else None


def _with_options(
    step: SchedulingPass, launch: tile.LaunchOp, default: Options
) -> SchedulingPass | None:
    """What a pipeline with these options would do."""
    try:
        found = decided(step, launch, default)
    except PassFailedException:
        return None
    return None if isinstance(found, str) else found
