# SPDX-License-Identifier: Apache-2.0
"""Random tilings of attention, in the place of the planner's favourite."""

from collections.abc import Callable, Iterator
from random import Random

from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import loop
from tilewright.dialects.schedule import ScheduleAttr
from tilewright.dialects.target import target as target_named
from tilewright.passes.facts.nest import softmaxes_in
from tilewright.passes.tile.blockify_launch import is_rectangular
from tilewright.passes.tile.kernel_schedule import with_added_steps
from tilewright.passes.tile.planner.attention import attention_of
from tilewright.passes.tile.planner.attention_choice import attention_tilings
from tilewright.passes.tile.planner.attention_tiling import AttentionTiling
from tilewright.passes.tile.planner.plan_schedules import launched
from tilewright.passes.tile.planner.trial import first_possible


def tiled(module: ModuleOp, target: str, draw: Random) -> Iterator[tuple[str, ModuleOp]]:
    """
    Yield copies of a module at Loop IR whose attention has a random tiling, each with the tiling in
    words: one for multiply-adds, and one for matrix instructions if there is any.
    """
    kernels = [op for op in module.ops if isinstance(op, loop.KernelOp)]
    for at, kernel in enumerate(kernels):
        for is_matrix in (False, True):
            steps = _drawn_steps(kernel, target, draw, lambda t, m=is_matrix: t.is_matrix is m)
            if steps is not None:
                copy = module.clone()
                planned = [op for op in copy.ops if isinstance(op, loop.KernelOp)][at]
                planned.planned = steps
                yield steps.data, copy


def _drawn_steps(
    kernel: loop.KernelOp, target: str, draw: Random, keeps: Callable[[AttentionTiling], bool]
) -> ScheduleAttr | None:
    """Return the steps of a random possible tiling that `keeps` holds for, or None."""
    lift, launch = launched(kernel)
    problem = attention_of(launch) if softmaxes_in(launch.body.block) else None
    if problem is None or not is_rectangular(launch):
        return None
    gpu = target_named(target)
    tilings = [tiling for tiling in attention_tilings(problem, gpu) if keeps(tiling)]
    draw.shuffle(tilings)
    if draw.choice((True, False)):  # few tilings have more keys than columns
        tilings.sort(key=lambda tiling: tiling.bk <= tiling.n)

    def steps_of(tiling: AttentionTiling) -> ScheduleAttr:
        pipeline = [lift, *tiling.pipeline(problem, gpu)]
        return with_added_steps(ScheduleAttr.parse(",".join(pipeline)))

    found = first_possible(tilings, launch, steps_of, gpu)
    return None if found is None else steps_of(found)
