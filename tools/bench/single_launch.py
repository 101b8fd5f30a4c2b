# SPDX-License-Identifier: Apache-2.0
"""
Plan of a single launch: what the launch reads are the plan's inputs, and what it writes are its
results. This way a launch can be run and timed without the others.
"""

from dataclasses import replace
from typing import NamedTuple

from tilewright.codegen.launch_plan import Fill, Launch, MapOf, Plan
from tilewright.codegen.slab import Slab
from tilewright.dialects.buffer_plan import ALIGNMENT


class SingleLaunch(NamedTuple):
    """Single launch of a plan, as a plan of its own."""

    plan: Plan
    reads: tuple[int, ...]
    """Buffers of the whole plan that are its inputs, in order."""
    writes: tuple[int, ...]
    """Buffers of the whole plan that are its results, in order."""


def single_launch(plan: Plan, position: int) -> SingleLaunch:
    """
    Return the launch at `position` as a plan. No buffer reuses the memory of another one. Inputs
    that the whole plan permutes when it loads them are already permuted.
    """
    launch = plan.launches[position]
    reads = tuple(dict.fromkeys(launch.inputs))
    buffers = (*reads, *dict.fromkeys(launch.outputs))
    numbers = {number: new for new, number in enumerate(buffers)}
    writes = tuple(n for n in dict.fromkeys(launch.outputs) if n not in launch.scratch)
    alone = Plan(
        plan.source,
        input_names=tuple(plan.names[number] for number in reads),
        buffers=tuple(plan.buffers[number] for number in buffers),
        launches=(_renumbered(launch, numbers),),
        results=tuple(numbers[number] for number in writes),
        inputs=tuple(plan.buffers[number] for number in reads),
        permuted={},
        slab=Slab(),
        alignments=tuple(_alignment(plan, number) for number in reads),
        names=tuple(plan.names[number] for number in buffers),
        source_names={},
        kept=tuple(_refilled(fill, numbers) for fill in plan.kept if fill.buffer in numbers),
    )
    return SingleLaunch(alone, reads, writes)


def _renumbered(launch: Launch, numbers: dict[int, int]) -> Launch:
    return replace(
        launch,
        inputs=tuple(numbers[number] for number in launch.inputs),
        outputs=tuple(numbers[number] for number in launch.outputs),
        in_place=(),
        tensor_maps=tuple(_of_renumbered(map, numbers) for map in launch.tensor_maps),
        fills=tuple(_refilled(fill, numbers) for fill in launch.fills),
        scratch=tuple(numbers[number] for number in launch.scratch),
    )


def _of_renumbered(map: MapOf, numbers: dict[int, int]) -> MapOf:
    return replace(map, buffer=numbers[map.buffer])


def _refilled(fill: Fill, numbers: dict[int, int]) -> Fill:
    return fill._replace(buffer=numbers[fill.buffer])


def _alignment(plan: Plan, number: int) -> int:
    """
    Return the alignment of a buffer: inputs have that of the caller's tensors, other buffers that
    of an allocation.
    """
    return plan.alignments[number] if number < len(plan.inputs) else ALIGNMENT
