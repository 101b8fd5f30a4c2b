# SPDX-License-Identifier: Apache-2.0
"""
Base of all passes that schedule launches.

Such a pass has the reason to skip a launch (`reason_against`), the values that its options may
have, the best guess first (`choices`), the reason against given ones (`reason_not_possible`), and
the rewrite itself (`pattern`), which a walker applies to the launch. The values are chosen here:

- those of its options, where the pipeline gives them;
- else those that are `planned` for the kernel; where steps are planned, none of them of this pass,
  the launch is skipped;
- what is still open is as in the first of the choices that agree. If all is open, the launch is
  skipped where that is better (`reason_not_worthwhile`).

What was done is added to the kernel's `schedule`; a step with other options than
planned drops the planned steps.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from itertools import chain
from typing import ClassVar, Self

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.utils.arg_spec import ArgSpec, ParameterListType

from tilewright.dialects import loop, tile
from tilewright.dialects.faster_xdsl.rewrite_each import rewrite_each
from tilewright.dialects.target import DEFAULT_TARGET
from tilewright.passes.driver.pipeline_string import configure, without_quotes
from tilewright.passes.facts.remembered import Memory, unchanged
from tilewright.passes.reporting.refusal import refused
from tilewright.passes.reporting.trace import Rule, is_listening, rewriting, skipped
from tilewright.passes.tile.kernel_schedule import blamed_on_planned_steps, record, take_planned

LEFT_OUT = "not among the planned steps"
"""Skip reason: no step of this pass is planned, or it has been done."""

_MATCHED = (tile.LaunchOp, tile.StageOp, tile.CombineOp, loop.ReduceOp)
"""Ops that are scheduled."""


@dataclass(frozen=True)
class SchedulingPass(ModulePass, ABC):
    """A pass that makes one decision about each launch."""

    target: str = DEFAULT_TARGET
    """What is decided for."""

    RULE: ClassVar[Rule]

    @abstractmethod
    def reason_against(self, launch: tile.LaunchOp) -> str | None:
        """Reason why the pass has nothing to do in the launch, whatever its options, or None."""

    @abstractmethod
    def choices(self, launch: tile.LaunchOp) -> Iterable[Self]:
        """
        The pass with values for all its options that are possible; the best guess first, and often
        all that is asked for. Where it has options already, those that differ from them may be left
        out.
        """

    def reason_not_possible(self, launch: tile.LaunchOp) -> str | None:
        """
        Reason why the launch cannot have these values, or None. If there are no choices, options
        may be open, and this is the reason.
        """
        return None

    def reason_not_worthwhile(self, launch: tile.LaunchOp) -> str | None:
        """Reason why the launch had better stay unchanged, or None."""
        return None

    def reason_not_needed(self) -> str | None:
        """Reason why these values, which are the best guess, leave nothing to do, or None."""
        return None

    @abstractmethod
    def pattern(self, launch: tile.LaunchOp) -> RewritePattern:
        """
        Return the pattern that does it in the launch, with these values. It matches the op that
        changes, one of the kinds in `_MATCHED`, and changes it by the rewriter only. Facts that are
        `remembered` of the launch are asked for here, before anything changes. A pass that needs
        no more than its options is its own pattern.
        """

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Each launch of the module."""
        for launch in tile.launches_of(op):
            _schedule(self, launch)

    @classmethod
    def schedule_space(cls, ctx: Context, module_op: ModuleOp) -> tuple[Self, ...]:
        """All choices for the only launch of the module."""
        launches = tile.launches_of(module_op)
        if len(launches) != 1 or cls().reason_against(launches[0]) is not None:
            return ()
        return tuple(cls().choices(launches[0]))

    def options(self) -> dict[str, ParameterListType]:
        """What is given, the target aside."""
        return dict(_options(self))

    def completed(
        self, guess: dict[str, ParameterListType], given: dict[str, ParameterListType]
    ) -> dict[str, ParameterListType]:
        """The options where no choice has what is `given`; the first of them is `guess`."""
        return {**guess, **given}

    def step(self) -> str:
        """The pass with its options as part of a pipeline."""
        return _step(self)


@lru_cache(maxsize=1 << 12)  # choices are compared with plans again and again
def _options(step: SchedulingPass) -> Mapping[str, ParameterListType]:
    given = step.spec().normalize_parameter_names().parameters
    return {name: value for name, value in given.items() if name != "target"}


@lru_cache(maxsize=1 << 12)
def _step(step: SchedulingPass) -> str:
    return without_quotes(str(replace(step, target=DEFAULT_TARGET)))


def _schedule(step: SchedulingPass, launch: tile.LaunchOp) -> None:
    """Decide, rewrite, and write down what was done."""
    kernel = launch.kernel
    is_planned = kernel.planned is None or step.name in kernel.planned.data or step.options()
    if not is_planned and not is_listening():
        return  # nobody asks whether there would be anything to do
    with Memory() as memory:
        with unchanged(memory):
            chosen = chosen_for(step, launch)
        if isinstance(chosen, str):
            skipped(step.RULE, kernel, chosen)
            return
        carry_out(chosen, launch, PatternRewriter(launch), memory)


def carry_out(
    chosen: SchedulingPass,
    launch: tile.LaunchOp,
    rewriter: PatternRewriter,
    memory: Memory | None = None,
) -> None:
    """Do what was decided with what is in `memory`, and write it down."""
    kernel = launch.kernel
    with rewriting(chosen.RULE, kernel):
        with memory or Memory() as known, unchanged(known):
            rewrite(chosen, launch)
    record(kernel, chosen.step(), rewriter)


def rewrite(chosen: SchedulingPass, launch: tile.LaunchOp) -> None:
    """Apply the pattern once to the launch and the ops in it; new ops are left as they are."""
    rewrite_each(launch, chosen.pattern(launch), *_MATCHED)


def chosen_for(step: SchedulingPass, launch: tile.LaunchOp) -> SchedulingPass | str:
    """The pass with its options, or why the launch is left alone; it is no longer planned then."""
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
    The pass with values for all its options, some of which are given, or why the launch is left
    alone; `PlacedPassError` if it cannot have what is given.
    """
    if not options and (reason := step.reason_not_worthwhile(launch)) is not None:
        return reason
    is_open = any(field.name not in options for field in fields(step) if field.name != "target")
    asked = _configured(step, options) if options else step
    choices = iter(asked.choices(launch)) if is_open else iter(())
    best = next(choices, None)
    if not options:
        reason = asked.reason_not_possible(launch) if best is None else best.reason_not_needed()
        if reason is not None:
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
    """The best choice with these options in the place of its own; an error if that cannot be."""
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
    """The pass with options; 1 and `true` are equal, and differ by their kinds."""
    return configure(kind, ArgSpec(kind.name, dict(options)), "pass")
