# SPDX-License-Identifier: Apache-2.0
"""
Trials of schedules. The planner's models know the sizes of a kernel, but not all values that its
threads hold. A choice that may need too many registers is tried on a copy of the kernel before it
is taken.
"""

from collections.abc import Callable, Iterable, Mapping
from itertools import takewhile
from typing import Protocol, TypeVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from tilewright.dialects import tile
from tilewright.dialects.axes import Role
from tilewright.dialects.schedule import ScheduleAttr
from tilewright.dialects.target import Target
from tilewright.passes.cost.live_registers import estimated_registers
from tilewright.passes.driver.pipelines import passes_of, to_tile
from tilewright.passes.facts.memoised import Memory, unchanged
from tilewright.passes.reporting.trace import listening
from tilewright.passes.scheduling_steps import FIRST, PLAN
from tilewright.passes.targeted_pass import for_target
from tilewright.passes.tile.register_tile import RegisterTilePass
from tilewright.passes.tile.register_tile_sizes import registers_with
from tilewright.passes.tile.scheduling_pass import take_choice


class Tried(Protocol):
    """Protocol of a choice that can be tried on a copy of a kernel."""

    @property
    def elements(self) -> int:
        """Elements of a thread."""
        ...


Choice = TypeVar("Choice", bound=Tried)


def first_possible(
    choices: Iterable[Choice],
    launch: tile.LaunchOp,
    steps_of: Callable[[Choice], ScheduleAttr],
    target: Target,
    sides_of: Callable[[Choice], Mapping[Role, int]] | None = None,
) -> Choice | None:
    """
    Return the first of `choices` that is possible, or None. `steps_of` returns the schedule of a
    choice, and `sides_of` the elements of a thread along the axes of each role, if given.

    A choice is possible if a thread certainly has the registers, or if no pass refuses it in a
    trial. After a choice is refused, choices that give a thread as many elements or more are not
    tried.
    """
    refused: int | None = None
    for choice in choices:
        sides = None if sides_of is None else sides_of(choice)
        if _has_registers(launch, choice.elements, sides, target):
            return choice
        if refused is not None and choice.elements >= refused:
            continue
        if not _is_refused(launch, steps_of(choice), target):
            return choice
        refused = choice.elements
    return None


_ADDED = 2
"""Values for each element that schedules add: the other parts of a split sum, and an index."""


def _has_registers(
    launch: tile.LaunchOp, elements: int, sides: Mapping[Role, int] | None, target: Target
) -> bool:
    """
    True if a thread certainly has registers for `elements` elements. Elements share the values that
    do not vary along their `sides`; without sides, each has its own copy of every value.
    """

    def copies(value: SSAValue) -> int:
        return elements if isinstance(value.owner, Operation) else 1

    if sides is None:
        needed = estimated_registers(launch.kernel.body.block, copies)
    else:
        steps = [(axis.value, sides.get(axis.role, 1)) for axis in launch.bound_axes()]
        needed = registers_with(launch, dict[SSAValue, int](steps))
    return needed + _ADDED * elements <= target.max_registers_per_thread


def scheduled(
    launch: tile.LaunchOp, steps: ScheduleAttr, before: str, target: Target
) -> tile.LaunchOp:
    """
    Return the launch of a copy of the kernel after `steps`, of which only passes before the pass
    `before` are run. Raises `PassFailedException` if a pass refuses its options.
    """
    kernel = launch.kernel.clone()
    kernel.planned = steps
    module, ctx = ModuleOp([kernel]), Context()
    with listening(None):
        for step in _steps_before(before):
            for_target(step, target.name).apply(ctx, module)
    (found,) = tile.launches_of(module)
    return found


def _is_refused(launch: tile.LaunchOp, steps: ScheduleAttr, target: Target) -> bool:
    """
    True if a pass refuses the options of `steps`, when run on a copy of the kernel. Only passes
    up to `register-tile`, which sets a thread's elements, are run.
    """
    try:
        tried = scheduled(launch, steps, RegisterTilePass.name, target)
        with listening(None), Memory() as memory, unchanged(memory):
            take_choice(RegisterTilePass(target.name), tried)
    except PassFailedException:
        return True
    return False


def _steps_before(name: str) -> list[ModulePass]:
    """Return the passes that schedule a launch after `tileify` and before the pass `name`."""
    steps = takewhile(lambda step: step.name != name, passes_of(to_tile()))
    return [step for step in steps if step.name not in (PLAN, FIRST)]
