# SPDX-License-Identifier: Apache-2.0
"""
The shared memory that a block of a launch needs after lowering. The number of bytes is a sum of
four parts: slabs with slots and padding, the mbarriers of slots that TMA fills, shared values, and
the space of combines. Values that lanes hold as fragments take no memory.
"""

from collections.abc import Mapping, Sequence
from math import prod

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation, SSAValue

from tilewright.dialects import loop, tile
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.kernel.shared import WORTH_A_BARRIER
from tilewright.dialects.target import WARP_SIZE
from tilewright.dialects.target import target as target_named
from tilewright.dialects.tile import Transport, layout_of
from tilewright.dialects.tile.attributes import Axis
from tilewright.dialects.types import memref_of, memref_type, size_of
from tilewright.passes.facts.block_joins import joined_axes
from tilewright.passes.facts.combines import ThreadJoin, adjacent_lanes, join_across
from tilewright.passes.facts.held_fragments import is_held_in_fragments
from tilewright.passes.facts.memoised import memoised
from tilewright.passes.facts.named_slabs import stages_of
from tilewright.passes.facts.register_axes import RegisterAxes, register_axes

MBARRIER_BYTES = 8
"""Bytes of an mbarrier; a slot that TMA fills has one for full and one for empty."""


@memoised
def shared_bytes(launch: tile.LaunchOp) -> int:
    """Return the bytes that a block needs, without the alignment of its arrays."""
    ops = ops_in(launch)
    combines = [op for op in ops if isinstance(op, tile.CombineOp)]
    joins = _bytes_of_combines(combines, launch) if combines else 0
    stored = [op for op in ops if isinstance(op, tile.ShareOp) and not is_held_in_fragments(op)]
    shares = sum(slab_bytes(memref_type(op.slab)) for op in stored)
    stages = stages_of(launch)
    by_tma = {stage.loop: stage.depth for stage in stages if stage.transport_kind is Transport.TMA}
    return (
        sum(map(stage_bytes, stages)) + shares + joins + 2 * MBARRIER_BYTES * sum(by_tma.values())
    )


def shared_bytes_at_once(launch: tile.LaunchOp, stages: Mapping[tile.StageOp, int]) -> int:
    """
    Return the most bytes of shared memory that a block holds at one time if the stages in `stages`
    had the given sizes in bytes. A join of blocks after a loop reuses the space of the loop's slabs
    (`plan-shared-memory`). All other memory is counted as live throughout.
    """
    more = sum(needed - stage_bytes(stage) for stage, needed in stages.items())
    total = shared_bytes(launch) + more
    joins = [op for op in launch.body.block.ops if isinstance(op, tile.CombineOp) and op.join]
    loops = {stage.loop for stage in stages_of(launch)}
    if len(joins) != 1 or len(loops) != 1 or not all(_ends_before(joins[0], op) for op in loops):
        return total
    joined = _bytes_of_combines(joins, launch)
    staged = sum(stages.get(s, stage_bytes(s)) for s in stages_of(launch))
    saved = min(joined, staged)
    return total - saved if saved >= WORTH_A_BARRIER else total


def reason_not_fitting(
    launch: tile.LaunchOp, stages: Mapping[tile.StageOp, int], target: str
) -> str | None:
    """
    Reason why the stages cannot have the sizes in `stages`, in bytes, as the predicate of a
    sentence, or None.
    """
    needed, room = shared_bytes_at_once(launch, stages), target_named(target).shared_per_block
    if needed <= room:
        return None
    return f"take {needed} bytes of shared memory, and a block of {target} has {room}"


def _ends_before(join: tile.CombineOp, around: Operation | None) -> bool:
    """True if the loop `around` ends before `join`, so that `join` needs none of its slabs."""
    return (
        isinstance(around, loop.ReduceOp)
        and around.parent_op() is join.parent_op()
        and around.is_before_in_block(join)
    )


def stage_bytes(stage: tile.StageOp) -> int:
    """Return the bytes of a stage, all slots included."""
    slots = 1 if stage.loop is None else stage.depth
    return slab_bytes(memref_type(stage.slab), slots)


def slab_bytes(slab: MemRefType, slots: int = 1) -> int:
    """Return the bytes of `slots` slots of a slab, padding included."""
    layout = layout_of(slab)
    if slots > 1:
        slab = memref_of(slab.element_type, (slots, *slab.get_shape()), slab.memory_space)
        layout = layout.with_slots()
    return layout.size(slab) * size_of(slab.element_type)


def _bytes_of_combines(combines: Sequence[tile.CombineOp], launch: tile.LaunchOp) -> int:
    registers = register_axes(launch)
    return sum(_bytes_of_combine(op, launch, registers) for op in combines)


def _bytes_of_combine(op: tile.CombineOp, launch: tile.LaunchOp, registers: RegisterAxes) -> int:
    """Return the bytes through which threads combine values, plus those of blocks of a cluster."""
    threads = launch.thread_axes()
    slots = {
        ThreadJoin.WARPS: launch.num_threads // WARP_SIZE,
        ThreadJoin.SHARED: launch.num_threads // adjacent_lanes(threads, op.axes),
    }
    number = slots.get(join_across(threads, op.axes), 0)
    is_of_cluster = op.join is not None and op.join.data is tile.Join.CLUSTER
    leaves = is_of_cluster and joined_axes(launch, op)
    total = 0
    for result in op.results:
        copies = prod(registers.extents[axis] for axis in registers.of([result]))
        elements = number + (_differing_threads(result, threads) if leaves else 0)
        total += copies * elements * size_of(result.type)
    return total


def _differing_threads(value: SSAValue, threads: Sequence[Axis]) -> int:
    """Return the number of threads that hold different values of a combine's result."""
    varies = tile.value_varies_along(value, {})
    return prod(axis.extent for axis in threads if axis.value in varies)
