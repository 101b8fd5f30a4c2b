# SPDX-License-Identifier: Apache-2.0
"""
Taste: of what scheduling passes may do, which is wise. Passes know what is possible, and nothing of
this; drivers look it up here by the name of a pass.

A pass of which nothing is said here has its choices in the order of its questions. If its row has a
cost (`scheduling_steps.py`), those that cost the least come first, and it is skipped where none
costs less than to do without.
"""

from collections.abc import Callable, Iterable, Mapping
from pkgutil import resolve_name
from typing import Any, NamedTuple, TypeVar

from tilewright.dialects import tile
from tilewright.passes.scheduling_steps import step_called
from tilewright.passes.tile.planner.taste import (
    blockify_launch,
    chunk_matmul_k,
    chunk_reduce,
    cooperative_reduce,
    mark_unroll,
    pad_smem,
    permute_register_tile,
    pipeline_k_outer,
    register_tile,
    split_inner_for_swizzle,
    split_matmul_k,
    stage_inputs,
    tma_copy,
)
from tilewright.passes.tile.scheduling_pass import SchedulingPass

Step = TypeVar("Step", bound=SchedulingPass)
Cost = Callable[[SchedulingPass | None, tile.LaunchOp], float]


class Taste(NamedTuple):
    """What is wise of what one pass may do."""

    prefer: Callable[[Any, tile.LaunchOp], Iterable[Any]]
    """The choices that are worth a trial, the best guess first."""
    reason_to_skip: Callable[[Any, tile.LaunchOp], str | None] | None = None
    """Reason why the launch had better stay unchanged, or None."""


_TASTES: Mapping[str, Taste] = {
    "chunk-matmul-k": Taste(chunk_matmul_k.prefer),
    "split-matmul-k": Taste(split_matmul_k.prefer, split_matmul_k.reason_to_skip),
    "blockify-launch": Taste(blockify_launch.prefer, blockify_launch.reason_to_skip),
    "cooperative-reduce": Taste(cooperative_reduce.prefer),
    "chunk-reduce": Taste(chunk_reduce.prefer),
    "stage-inputs": Taste(stage_inputs.prefer, stage_inputs.reason_to_skip),
    "register-tile": Taste(register_tile.prefer, register_tile.reason_to_skip),
    "permute-register-tile": Taste(permute_register_tile.prefer),
    "tma-copy": Taste(tma_copy.prefer, tma_copy.reason_to_skip),
    "split-inner-for-swizzle": Taste(
        split_inner_for_swizzle.prefer, split_inner_for_swizzle.reason_to_skip
    ),
    "pad-smem": Taste(pad_smem.prefer, pad_smem.reason_to_skip),
    "pipeline-k-outer": Taste(pipeline_k_outer.prefer),
    "mark-unroll": Taste(mark_unroll.prefer),
}


def prefer(step: Step, launch: tile.LaunchOp) -> Iterable[Step]:
    """
    `step` with values for all its options that are possible; the best guess first, and often all
    that is asked for. Where it has options already, those that differ from them may be left out.
    """
    if (taste := _TASTES.get(step.name)) is not None:
        return taste.prefer(step, launch)
    cost = _cost_of(step)
    possible = step.possible(launch)
    return possible if cost is None else sorted(possible, key=lambda each: cost(each, launch))


def reason_to_skip(step: SchedulingPass, launch: tile.LaunchOp) -> str | None:
    """Reason why the launch had better stay unchanged, or None."""
    if (taste := _TASTES.get(step.name)) is not None:
        return None if taste.reason_to_skip is None else taste.reason_to_skip(step, launch)
    if (cost := _cost_of(step)) is None:
        return None
    without = cost(None, launch)
    best = min((cost(each, launch) for each in step.possible(launch)), default=without)
    return None if best < without else f"it costs {without:g} without, and at best {best:g} with it"


def _cost_of(
    step: SchedulingPass,
) -> Callable[[SchedulingPass | None, tile.LaunchOp], float] | None:
    row = step_called(step.name)
    return None if row is None or not row.cost else resolve_name(row.cost)
