# SPDX-License-Identifier: Apache-2.0
"""
What is wise of what a scheduling pass may do. Passes know what is possible, and nothing of this;
drivers ask here, and the table of steps (`scheduling_steps.py`) has the answers:

- the module of a step's taste has `prefer`, and may have `reason_to_skip`;
- else its cost puts the choices in order, and it is skipped where none costs less than to do
  without;
- else the choices come in the order of the pass's questions.
"""

from collections.abc import Callable, Iterable
from importlib import import_module
from pkgutil import resolve_name
from typing import TypeVar

from tilewright.dialects import tile
from tilewright.dialects.target import Target
from tilewright.dialects.target import target as target_named
from tilewright.passes.scheduling_steps import step_called
from tilewright.passes.tile.scheduling_pass import SchedulingPass

Step = TypeVar("Step", bound=SchedulingPass)
Cost = Callable[[SchedulingPass | None, tile.LaunchOp, Target], float]


def prefer(step: Step, launch: tile.LaunchOp) -> Iterable[Step]:
    """
    `step` with values for all its options that are possible; the best guess first, and often all
    that is asked for. Where it has options already, those that differ from them may be left out.
    """
    row = step_called(step.name)
    if row is not None and row.taste:
        return import_module(row.taste).prefer(step, launch)
    possible = step.possible(launch)
    if row is None or not row.cost:
        return possible
    cost: Cost = resolve_name(row.cost)
    target = target_named(step.target)
    return sorted(possible, key=lambda choice: cost(choice, launch, target))


def reason_to_skip(step: SchedulingPass, launch: tile.LaunchOp) -> str | None:
    """Reason why the launch had better stay unchanged, or None."""
    row = step_called(step.name)
    if row is not None and row.taste:
        taste = import_module(row.taste)
        return taste.reason_to_skip(step, launch) if hasattr(taste, "reason_to_skip") else None
    if row is None or not row.cost:
        return None
    cost: Cost = resolve_name(row.cost)
    target = target_named(step.target)
    without = cost(None, launch, target)
    costs = (cost(choice, launch, target) for choice in step.possible(launch))
    best = min(costs, default=without)
    return None if best < without else f"it costs {without:g} without, and at best {best:g} with it"
