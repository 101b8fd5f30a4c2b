# SPDX-License-Identifier: Apache-2.0
"""
Which schedule a kernel gets: all that must be decided together, decided together.

There are three kinds of kernels, each with ways to do it and a model of the time that they take:
contractions (`tilings.py`), rows (`row_sharings.py`) and elements (`strips.py`). The fastest is
taken.

What depends on one decision alone (which operands are staged, pads, swizzles) is left to the pass
that makes it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, cast

from tilewright.dialects import loop, tile
from tilewright.dialects.target import Target
from tilewright.passes.tile.blockify_launch import is_rectangular
from tilewright.passes.tile.contraction import contraction_of
from tilewright.passes.tile.lift_columns import lift_columns
from tilewright.passes.tile.row_problem import row_problem
from tilewright.passes.tile.row_sharings import row_sharings
from tilewright.passes.tile.rows import columns_of_row, shares_rows
from tilewright.passes.tile.strips import element_problem, strips
from tilewright.passes.tile.tileify import apply as tileify
from tilewright.passes.tile.tilings import fastest_tiling, tilings

Problem = TypeVar("Problem", contravariant=True)


class Choice(Protocol[Problem]):
    """One way to do a kernel; in words, by `str`."""

    def seconds(self, problem: Problem, target: Target) -> float:
        """How long it takes, by the model of its kind."""
        ...

    def pipeline(self, problem: Problem, target: Target) -> Sequence[str]:
        """The passes that do it, but for how the kernel is lifted."""
        ...


@dataclass(frozen=True)
class Weighed:
    """What was weighed for a kernel."""

    problem: object
    """What there is to do; in words, by `str`."""
    target: Target
    best: Choice[Any]
    """The one that is taken."""
    ranked: Callable[[Any, Target], Sequence[Choice[Any]]]
    """What makes of the problem all choices, the best first."""

    @property
    def choices(self) -> Sequence[Choice[Any]]:
        """The one that is taken, and those that come after it."""
        return self.ranked(self.problem, self.target)

    def seconds(self, choice: Choice[Any]) -> float:
        """How long it takes, by the planner's model."""
        return choice.seconds(self.problem, self.target)

    def pipeline(self) -> Sequence[str]:
        """The passes that do what is taken."""
        return self.best.pipeline(self.problem, self.target)


_STATISTICS = ("cooperative-reduce", "chunk-reduce", "stage-inputs", "mark-unroll")
"""Rows that are reduced with columns, once for each: there is one way to do those."""


def weighed(launch: tile.LaunchOp, target: Target) -> Weighed | None:
    """What there is to choose from; None if there is but one way."""
    contraction = contraction_of(launch)
    if contraction is not None and is_rectangular(launch):
        return Weighed(contraction, target, fastest_tiling(contraction, target), tilings)
    if not shares_rows(launch):
        elements = element_problem(launch)
        return Weighed(elements, target, strips(elements, target)[0], strips)
    if columns_of_row(launch):
        return None
    rows = row_problem(launch)
    return Weighed(rows, target, row_sharings(rows, target)[0], row_sharings)


def plan(kernel: loop.KernelOp, target: Target) -> str:
    """The pipeline that schedules `kernel`, with the options that are decided together."""
    lift, launch = launched(kernel)
    found = weighed(launch, target)
    return ",".join([lift, *(_STATISTICS if found is None else found.pipeline())])


def launched(kernel: loop.KernelOp) -> tuple[str, tile.LaunchOp]:
    """How `tileify` is to lift the kernel, and the launch that it makes of it."""
    copy = kernel.clone()
    launch = tileify(copy)
    if columns_of_row(launch) == 0:
        return "tileify", launch
    lift_columns(launch)
    return "tileify{columns=true}", cast(tile.LaunchOp, copy.body.block.last_op)
