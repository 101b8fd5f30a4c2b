# SPDX-License-Identifier: Apache-2.0
"""
Choices that the planner considers for a kernel, by its kind: contraction (`tiling_choice.py`),
attention (`attention_choice.py`), rows (`row_assignment_choice.py`) or elements
(`element_assignment.py`).

Each kind's files are imported for the first kernel that may be one; most programs have few kinds.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from tilewright.dialects import tile
from tilewright.dialects.axes import Role
from tilewright.dialects.target import Target
from tilewright.passes.facts.nest import softmaxes_in
from tilewright.passes.tile.contracting_reductions import contracting_reductions
from tilewright.passes.tile.row_facts import columns_per_row, rows_are_cooperative

Problem = TypeVar("Problem", contravariant=True)


class Choice(Protocol[Problem]):
    """Protocol of a choice that the planner makes for a kernel; `str` gives it in words."""

    def seconds(self, problem: Problem, target: Target) -> float:
        """Return the seconds that the kernel takes, by the model for its kind."""
        ...

    @property
    def elements(self) -> int:
        """Elements of a thread."""
        ...

    def pipeline(self, problem: Problem, target: Target) -> Sequence[str]:
        """Return the steps that carry out the choice, except `tileify`, as texts."""
        ...


class Considered(NamedTuple):
    """A problem, and the choices that are considered for it."""

    problem: object
    ranked: Callable[[Any, Target], Sequence[Choice[Any]]]
    """Function that returns the choices, the best first."""
    first: Choice[Any]
    """Fastest choice, tried before the others are computed."""
    last: Choice[Any]
    """Choice that is tried last."""
    sides_of: Callable[[Any], Mapping[Role, int]] | None = None
    """
    Function that returns the elements of a thread along the axes of each role, if a kernel's values
    vary as its axes say; None otherwise.
    """


def considered_for(launch: tile.LaunchOp, target: Target) -> Considered | None:
    """
    Return the choices for a kernel, by its kind, or None if there is only one way to schedule it.
    """
    if softmaxes_in(launch.body.block) and (found := _of_attention(launch, target)):
        return found
    if contracting_reductions(launch) and (found := _of_contraction(launch, target)):
        return found
    if not rows_are_cooperative(launch):
        return _of_elements(launch, target)
    return None if columns_per_row(launch) else _of_rows(launch, target)


def _of_attention(launch: tile.LaunchOp, target: Target) -> Considered | None:
    from tilewright.passes.tile.blockify_launch import is_rectangular
    from tilewright.passes.tile.planner.attention import attention_of
    from tilewright.passes.tile.planner.attention_choice import attention_tilings, fewest_elements

    attention = attention_of(launch)
    if attention is None or not is_rectangular(launch):
        return None
    first = attention_tilings(attention, target)[0]
    return Considered(attention, attention_tilings, first, fewest_elements(attention, target))


def _of_contraction(launch: tile.LaunchOp, target: Target) -> Considered | None:
    from tilewright.passes.tile.blockify_launch import is_rectangular
    from tilewright.passes.tile.planner.contraction import contraction_of
    from tilewright.passes.tile.planner.tiling import Tiling
    from tilewright.passes.tile.planner.tiling_choice import (
        FEWEST_ELEMENTS,
        fastest_tiling,
        tilings,
    )

    contraction = contraction_of(launch, target)
    if contraction is None or not is_rectangular(launch):
        return None
    first = fastest_tiling(contraction, target)
    # the passes that schedule a softmax add values of other shapes
    sides_of = None if softmaxes_in(launch.body.block) else Tiling.sides
    return Considered(contraction, tilings, first, FEWEST_ELEMENTS, sides_of)


def _of_elements(launch: tile.LaunchOp, target: Target) -> Considered:
    from tilewright.passes.tile.planner.element_assignment import (
        element_assignments,
        element_problem,
    )

    elements = element_problem(launch)
    first = element_assignments(elements, target)[0]
    return Considered(elements, element_assignments, first, first)


def _of_rows(launch: tile.LaunchOp, target: Target) -> Considered:
    from tilewright.passes.tile.planner.row_assignment_choice import IN_STEPS, row_assignments
    from tilewright.passes.tile.planner.row_problem import row_problem

    rows = row_problem(launch)
    return Considered(rows, row_assignments, row_assignments(rows, target)[0], IN_STEPS)
