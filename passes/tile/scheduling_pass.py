# SPDX-License-Identifier: Apache-2.0
"""
Base of all passes that schedule launches.

Such a pass knows what is possible:

- `reason_against`: the reason why it has nothing to do in a launch;
- `questions`: the values that its options may have;
- `reason_not_possible`: the reason against values that are given;
- `completed`: the meaning of options of which some are given;
- `pattern`: the rewrite, which a walker applies to the launch.

Which of the possible values is wise is a matter of taste (`scheduling_steps.py`); a driver decides
(`schedule_launch.py`).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import ClassVar, Self

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.utils.arg_spec import ParameterListType

from tilewright.dialects import loop, tile
from tilewright.dialects.faster_xdsl.rewrite_each import rewrite_each
from tilewright.dialects.schedule import spec_text
from tilewright.dialects.target import DEFAULT_TARGET
from tilewright.passes.facts.remembered import Memory, unchanged
from tilewright.passes.reporting.trace import Rule, rewriting
from tilewright.passes.targeted_pass import TargetedPass
from tilewright.passes.tile.kernel_schedule import record

Answer = str | int | bool | None
Questions = Mapping[str, Sequence[Answer]]

_OF_PACKAGES = 99
"""Number in traces of rules that are not of this repository."""

NO_YES = (False, True)
"""Answers to whether an option lists a name."""


@dataclass(frozen=True)
class SchedulingPass(TargetedPass, ABC):
    """A pass that makes one decision about each launch."""

    RULE: ClassVar[Rule]
    """Its identity in traces; passes of packages have one made of their name."""

    MATCHES: ClassVar[Sequence[type[Operation]]] = (
        tile.LaunchOp,
        tile.StageOp,
        tile.CombineOp,
        loop.ReduceOp,
    )
    """Kinds of ops of a launch that the walker visits; a pass that matches others lists them."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.pattern is SchedulingPass.pattern and not issubclass(cls, RewritePattern):
            raise TypeError(f"{cls.__name__} has no `pattern`, and is no RewritePattern itself")
        if "RULE" not in cls.__dict__ and "name" in cls.__dict__:
            cls.RULE = Rule("t", _OF_PACKAGES, cls.name.replace("-", "_"))

    @abstractmethod
    def reason_against(self, launch: tile.LaunchOp) -> str | None:
        """Reason why the pass has nothing to do in the launch, whatever its options, or None."""

    def questions(self, launch: tile.LaunchOp) -> Questions:
        """
        Values that each option may have for the launch, in a fixed order that does not rank them;
        which combinations are possible, `reason_not_possible` knows. Of an option that lists names
        each name is a question of its own, `slabs as`, to which the answer is yes or no.
        """
        return {}

    def with_answers(self, answers: Mapping[str, Answer]) -> Self:
        """Return the pass with these answers for its options."""
        options: dict[str, Answer | tuple[str, ...]] = {}
        lists: dict[str, tuple[str, ...]] = {}
        for question, answer in answers.items():
            option, _, name = question.partition(" ")
            if not name:
                options[option] = answer
            elif answer:
                lists[option] = (*lists.get(option, ()), name)
        return replace(self, **options, **lists)

    def possible(self, launch: tile.LaunchOp) -> Iterator[Self]:
        """
        Yield the pass with all answers that are possible together, in the order of its questions.
        """
        questions = self.questions(launch)
        for answers in product(*questions.values()):
            choice = self.with_answers(dict(zip(questions, answers, strict=True)))
            if choice.reason_not_possible(launch) is None:
                yield choice

    def reason_not_possible(self, launch: tile.LaunchOp) -> str | None:
        """
        Reason why the launch cannot have these values, or None. If no values are possible, options
        may be open, and this is the reason.
        """
        return None

    def pattern(self, launch: tile.LaunchOp) -> RewritePattern:
        """
        Return the pattern that does it in the launch, with these values: the pass itself, where its
        options are all that the rewrite needs. It matches the op that changes, one of the kinds in
        `MATCHES`, and changes it by the rewriter only. Facts that are `remembered` of the launch
        are asked for here, before anything changes.
        """
        assert isinstance(self, RewritePattern)
        return self

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Each launch of the module."""
        # drivers know the taste in passes, and so import these
        from tilewright.passes.tile.schedule_launch import schedule

        for launch in tile.launches_of(op):
            schedule(self, launch)

    def options(self) -> dict[str, ParameterListType]:
        """What is given, the target aside."""
        return dict(_options(self))

    def completed(
        self, guess: dict[str, ParameterListType], given: dict[str, ParameterListType]
    ) -> dict[str, ParameterListType]:
        """Return the options where no choice has what is `given`; the first of them is `guess`."""
        return {**guess, **given}

    def step(self) -> str:
        """Return the pass with its options as part of a pipeline."""
        return _step(self)


@lru_cache(maxsize=1 << 12)  # choices are compared with plans again and again
def _options(step: SchedulingPass) -> Mapping[str, ParameterListType]:
    given = step.spec().normalize_parameter_names().parameters
    return {name: value for name, value in given.items() if name != "target"}


@lru_cache(maxsize=1 << 12)
def _step(step: SchedulingPass) -> str:
    return spec_text(replace(step, target=DEFAULT_TARGET))


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
    rewrite_each(launch, chosen.pattern(launch), *chosen.MATCHES)
