# SPDX-License-Identifier: Apache-2.0
"""
Plans the steps that schedule each kernel. Options that depend on each other are decided together,
before the first step runs.

    loop.kernel @mm(...) -> (...) {
      loop.for %i in 512, %j in 2048 { ... }
    }

becomes

    loop.kernel @mm(...) -> (...) {
      loop.for %i in 512, %j in 2048 { ... }
    } planned "tileify,chunk-matmul-k{bk=16},...,mark-unroll"

Each kind of kernels has its choices and a model of their time (`considered.py`). The planner takes
the fastest choice. Options that depend on nothing else (which operands are staged, pads, swizzles)
are left to their pass.

A pass among the planned steps runs as planned; all other passes skip the kernel. A kernel may carry
planned steps already: they are kept, unless they name `plan-schedules`. Planned steps that name
`plan-schedules` are pins, and the planner decides the rest (`pinned_steps.py`). A planned step of a
pass that does not exist is an error.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import loop, tile
from tilewright.dialects.schedule import ScheduleAttr
from tilewright.dialects.target import Target
from tilewright.passes.reporting.trace import Rule, rewriting, skipped
from tilewright.passes.scheduling_steps import PLAN
from tilewright.passes.targeted_pass import TargetedPass
from tilewright.passes.tile.kernel_schedule import (
    errors_of_planned_steps,
    planned_passes,
    with_added_steps,
)
from tilewright.passes.tile.planner.considered import Choice, Considered, considered_for
from tilewright.passes.tile.planner.pinned_steps import (
    check_pins,
    narrowed,
    pinned_lift,
    with_pins,
)
from tilewright.passes.tile.planner.trial import first_possible
from tilewright.passes.tile.row_facts import columns_per_row
from tilewright.passes.tile.tileify import apply as tileify
from tilewright.passes.tile.tileify import lift_columns


@dataclass(frozen=True)
class Weighed:
    """Result of weighing the choices for a kernel."""

    problem: object
    """Problem of the kernel; `str` gives it in words."""
    target: Target
    best: Choice[Any]
    """Choice that is taken."""
    ranked: Callable[[], Sequence[Choice[Any]]]
    """Function that returns all considered choices, the best first."""
    replaced: Collection[str] = ()
    """Steps with pinned values that no choice has; times of choices are not the schedule's then."""

    @property
    def choices(self) -> Sequence[Choice[Any]]:
        """Choice that is taken, and the choices that rank below it."""
        ranked = self.ranked()
        after = ranked.index(self.best) + 1 if self.best in ranked else len(ranked)
        return [self.best, *ranked[after:]]

    def seconds(self, choice: Choice[Any]) -> float:
        """Return the seconds that the kernel takes with `choice`, by the planner's model."""
        return choice.seconds(self.problem, self.target)

    def pipeline(self) -> Sequence[str]:
        """Return the steps that carry out the choice that is taken, as texts."""
        return self.best.pipeline(self.problem, self.target)


_STATISTICS = ("cooperative-reduce", "chunk-reduce", "stage-inputs", "mark-unroll")
"""Steps for rows that are reduced with columns; there is one way to schedule them."""


def weighed(
    launch: tile.LaunchOp, target: Target, pinned: ScheduleAttr | None = None
) -> Weighed | None:
    """
    Return the choice for a kernel, with the ranking of the others, or None if there is only one way
    to schedule it. If steps are `pinned`, only choices with their options are considered
    (`narrowed`).
    """
    considered = considered_for(launch, target)
    return None if considered is None else _weighed(launch, target, considered, pinned)


def _weighed(
    launch: tile.LaunchOp, target: Target, considered: Considered, pinned: ScheduleAttr | None
) -> Weighed:
    """Return the first choice that no pass refuses, with the ranking of all."""
    problem, ranked, first, last, sides_of = considered

    def pipeline_of(choice: Choice[Any]) -> Sequence[str]:
        return choice.pipeline(problem, target)

    def steps_of(choice: Choice[Any]) -> ScheduleAttr:
        return with_added_steps(ScheduleAttr.parse(",".join(pipeline_of(choice))))

    if pinned is not None:
        every = list(dict.fromkeys([*ranked(problem, target), last]))
        agreeing, replaced = narrowed(every, pinned, pipeline_of)
        best = first_possible(
            agreeing, launch, lambda each: with_pins(steps_of(each), pinned, replaced), target
        )
        taken = agreeing[0] if best is None else best
        return Weighed(problem, target, taken, lambda: agreeing, replaced)

    def all_ranked() -> Sequence[Choice[Any]]:
        return ranked(problem, target)

    choices = chain([first], _on_demand(all_ranked), [last])
    best = first_possible(choices, launch, steps_of, target, sides_of)
    return Weighed(problem, target, first if best is None else best, all_ranked)


def _on_demand(ranked: Callable[[], Sequence[Choice[Any]]]) -> Iterator[Choice[Any]]:
    yield from ranked()


def planned_steps(
    kernel: loop.KernelOp, target: Target, pinned: ScheduleAttr | None = None
) -> ScheduleAttr:
    """
    Return the steps that schedule `kernel`, with the options that are decided together. Steps that
    are `pinned` keep the options that they have.
    """
    lift, launch = launched(kernel, pinned)
    found = weighed(launch, target, pinned)
    steps = _STATISTICS if found is None else found.pipeline()
    planned = with_added_steps(ScheduleAttr.parse(",".join([lift, *steps])))
    if pinned is None:
        return planned
    return with_pins(planned, pinned, () if found is None else found.replaced)


def launched(
    kernel: loop.KernelOp, pinned: ScheduleAttr | None = None
) -> tuple[str, tile.LaunchOp]:
    """Return the step by which `tileify` lifts the kernel, and the launch of a lifted copy."""
    copy = kernel.clone()
    launch = tileify(copy)
    keeps_rows = pinned is not None and pinned_lift(pinned) is False
    if keeps_rows or columns_per_row(launch) == 0:
        return "tileify", launch
    lift_columns(launch)
    return "tileify{columns=true}", cast(tile.LaunchOp, copy.body.block.last_op)


RULE = Rule("t", 0, "plan_schedules")


def reason_against(kernel: loop.KernelOp) -> str | None:
    """Reason why the planner skips the kernel, or None."""
    if kernel.planned is not None and not kernel.planned.names(PLAN):
        return "its steps are planned already"
    if isinstance(kernel.body.block.last_op, tile.LaunchOp):
        return "it is a launch already"
    return None


@dataclass(frozen=True)
class PlanSchedulesPass(TargetedPass):
    """Plan the steps of each kernel."""

    name = PLAN

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """
        Store the steps that schedule each kernel as its `planned` steps. Kernels that are launches
        or planned already are skipped with a remark.
        """
        target = self.gpu
        for kernel in [k for k in op.ops if isinstance(k, loop.KernelOp)]:
            _check_planned(kernel)
            if (reason := reason_against(kernel)) is not None:
                skipped(RULE, kernel, reason)
                continue
            with rewriting(RULE, kernel):
                kernel.planned = planned_steps(kernel, target, kernel.planned)


def _check_planned(kernel: loop.KernelOp) -> None:
    """Raise `UsageError` for a planned step of a pass that does not exist."""
    if kernel.planned is None:
        return
    with errors_of_planned_steps(kernel):
        planned_passes(kernel.planned)
        if kernel.planned.names(PLAN):
            check_pins(kernel.planned)
