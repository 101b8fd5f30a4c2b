# SPDX-License-Identifier: Apache-2.0
"""
Steps of loops, and the number of blocks that share a result.

The estimate finds the steps of a loop from the bytes that its loads move in a step
(`report/work.py`). It leaves out copies by the tensor memory accelerator (TMA), whose sizes are not
in the machine code. Here the outer loop of a pipeline runs until its copies have moved all bytes of
a block. A loop in which the last block joins the parts of others has a step for each of them.
"""

from tilewright.codegen.report.instruction import GLOBAL, Category, Code
from tilewright.codegen.report.instruction_mix import instruction_mix
from tilewright.codegen.report.loops import Loop, loop_around, reachable
from tilewright.codegen.report.work import longest_versions, trip_counts
from tilewright.dialects.tile import Join
from tilewright.passes.cost.launch_cost import KernelCost
from tilewright.passes.driver.pipeline_string import parameters_by_pass

_COMPUTING = (Category.FFMA, Category.HMMA, Category.MATRIX)


def all_trips(code: Code, cost: KernelCost, box_bytes: float, sharing: int) -> dict[Loop, float]:
    """
    Return the steps of each counted loop in a whole block, at least 1. A TMA copy moves `box_bytes`
    bytes, and `sharing` blocks share a result. A loop runs at least once in each step of the loops
    around it.
    """
    trips = trip_counts(code, cost, longest_versions(code))
    counts = [n for n, each in enumerate(code.instructions) if each.category is Category.ATOMIC]
    for loop in trips:
        is_join = sharing > 1 and counts and loop.start > counts[0]
        if is_join and not instruction_mix(code, loop.whole).count(*_COMPUTING):
            trips[loop] = min(trips[loop], sharing)
    if box_bytes:
        _set_copying(trips, code, cost, box_bytes)
    for loop in sorted(trips, key=lambda loop: -len(loop.whole)):
        if outer := loop_around(loop, trips):
            trips[loop] = max(trips[loop], trips[outer])
    return trips


def _set_copying(trips: dict[Loop, float], code: Code, cost: KernelCost, box_bytes: float) -> None:
    """Set the steps of loops that compute with the boxes that they copy."""
    beside = instruction_mix(code, reachable(code)).bytes(*GLOBAL) * cost.threads
    copied = cost.accessed_bytes / cost.blocks - beside
    for loop in trips:
        mix = instruction_mix(code, loop.whole)
        in_step = mix.count(Category.TMA) * box_bytes
        if in_step and mix.count(*_COMPUTING) and trips[loop] <= 1:
            trips[loop] = max(1.0, copied / in_step)


def sharing_blocks(schedule: str) -> int:
    """
    Return the number of blocks that share a result by `last_block` according to a kernel's
    schedule; 1 if none do.
    """
    for options in parameters_by_pass(schedule).values():
        sizes = options.get("factor") or options.get("split")
        join = options.get("join", (Join.LAST_BLOCK.value,))
        if sizes and join == (Join.LAST_BLOCK.value,) and isinstance(sizes[0], int):
            return sizes[0]
    return 1
