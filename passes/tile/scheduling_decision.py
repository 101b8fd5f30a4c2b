# SPDX-License-Identifier: Apache-2.0
"""
Decision of a pass about one launch: the part of a scheduling pass that knows what is possible.

- `reason_against`: the reason why the pass has nothing to do in a launch;
- `questions`: the values that its options may have;
- `reason_not_possible`: the reason against given values;
- `completed`: the meaning of options of which some are given;
- `pattern`: the rewrite, which a walker applies to the launch.

Which of the possible values is the best is a matter of taste (`scheduling_steps.py`). The driver
that asks both is in `scheduling_pass.py`.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import ClassVar, Self

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.utils.arg_spec import ParameterListType

from tilewright.dialects import loop, tile
from tilewright.dialects.faster_xdsl.walk import rewrite_each
from tilewright.dialects.schedule import spec_text
from tilewright.dialects.target import DEFAULT_TARGET
from tilewright.passes.facts.memoised import Memory, unchanged
from tilewright.passes.reporting.trace import Rule, rewriting
from tilewright.passes.targeted_pass import TargetedPass
from tilewright.passes.tile.kernel_schedule import record

Answer = str | int | bool | None
Questions = Mapping[str, Sequence[Answer]]

_OF_PACKAGES = 99
"""Number in traces of all rules of packages."""

NO_YES = (False, True)
"""Answers to the question whether an option lists a name."""

NOT_DECIDED = ("target", "planned_only")
"""Fields that drivers set; all other fields are options of the decision."""


@dataclass(frozen=True)
class SchedulingDecision(TargetedPass, ABC):
    """One decision about each launch, with the rewrite that carries it out."""

    RULE: ClassVar[Rule]
    """Identity in traces; passes of packages get one made of their name."""

    MATCHES: ClassVar[Sequence[type[Operation]]] = (
        tile.LaunchOp,
        tile.StageOp,
        tile.CombineOp,
        loop.ReduceOp,
    )
    """Kinds of ops that the walker visits; a pass that matches other kinds lists them here."""

    planned_only: bool = False
    """True to skip kernels whose planned steps do not name the pass."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" not in cls.__dict__:
            return
        if cls.pattern is SchedulingDecision.pattern and not issubclass(cls, RewritePattern):
            raise TypeError(f"{cls.__name__} has no `pattern`, and is no RewritePattern itself")
        if "RULE" not in cls.__dict__:
            cls.RULE = Rule("t", _OF_PACKAGES, cls.name.replace("-", "_"))

    @abstractmethod
    def reason_against(self, launch: tile.LaunchOp) -> str | None:
        """Reason why the pass has nothing to do in the launch, whatever its options, or None."""

    def questions(self, launch: tile.LaunchOp) -> Questions:
        """
        Return the values that each option may have for the launch, in an order that does not rank
        them. `reason_not_possible` knows which combinations are possible. For an option that lists
        names, each name is a question of its own (`slabs as`), answered by no or yes.
        """
        return {}

    def with_answers(self, answers: Mapping[str, Answer]) -> Self:
        """Return the pass with these answers as its options."""
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
        """Yield the pass with each possible combination of answers, in order of its questions."""
        questions = self.questions(launch)
        for answers in product(*questions.values()):
            choice = self.with_answers(dict(zip(questions, answers, strict=True)))
            if choice.reason_not_possible(launch) is None:
                yield choice

    def reason_not_possible(self, launch: tile.LaunchOp) -> str | None:
        """
        Reason why the launch cannot have the values of these options, or None. Options may be None;
        the reason is then the one against every value.
        """
        return None

    def pattern(self, launch: tile.LaunchOp) -> RewritePattern:
        """
        Return the pattern that rewrites the launch with these options; by default the pass itself.

        The pattern matches the op that changes, one of the kinds in `MATCHES`, and changes it
        through its rewriter. Facts of the launch that are memoised are asked for here, before
        anything changes.
        """
        assert isinstance(self, RewritePattern)
        return self

    def options(self) -> dict[str, ParameterListType]:
        """Return the options that have values, by name."""
        return dict(_options(self))

    def completed(
        self, guess: dict[str, ParameterListType], given: dict[str, ParameterListType]
    ) -> dict[str, ParameterListType]:
        """
        Return the options to use if no preferred choice has the `given` ones: by default the given
        ones, and those of `guess` for the rest. `guess` has the options of the best choice.
        """
        return {**guess, **given}

    def step(self) -> str:
        """Return the pass with its options as the text of a pipeline step."""
        return _step(self)


@lru_cache(maxsize=1 << 12)  # choices are compared with planned steps again and again
def _options(step: SchedulingDecision) -> Mapping[str, ParameterListType]:
    given = step.spec().normalize_parameter_names().parameters
    return {name: value for name, value in given.items() if name not in NOT_DECIDED}


@lru_cache(maxsize=1 << 12)
def _step(step: SchedulingDecision) -> str:
    return spec_text(replace(step, target=DEFAULT_TARGET, planned_only=False))


def carry_out(
    chosen: SchedulingDecision,
    launch: tile.LaunchOp,
    rewriter: PatternRewriter,
    memory: Memory | None = None,
) -> None:
    """
    Rewrite the launch as `chosen` says, and record the step in the kernel's schedule. Facts in
    `memory` are used and not computed again.
    """
    kernel = launch.kernel
    with rewriting(chosen.RULE, kernel):
        with memory or Memory() as known, unchanged(known):
            rewrite(chosen, launch)
    record(kernel, chosen.step(), rewriter)


def rewrite(chosen: SchedulingDecision, launch: tile.LaunchOp) -> None:
    """Apply the pattern once to the launch and to each op in it; skip the ops that it creates."""
    rewrite_each(launch, chosen.pattern(launch), *chosen.MATCHES)
