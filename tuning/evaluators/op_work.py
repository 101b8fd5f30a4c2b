# SPDX-License-Identifier: Apache-2.0
"""Facts about single ops of Tile IR that the tuner's time model counts (`tile_work.py`)."""

from math import prod

from xdsl.dialects import arith
from xdsl.ir import Operation

from tilewright.dialects import loop, tile
from tilewright.dialects.monoid import Monoid
from tilewright.dialects.tile import Transport
from tilewright.dialects.types import memref_type, size_of
from tilewright.passes.cost.banks import BANK_BYTES, BANKS
from tilewright.passes.cost.global_sectors import SECTOR_BYTES
from tilewright.passes.cost.shared_budget import slab_bytes
from tilewright.passes.facts.footprint import steps_of
from tilewright.passes.tile.row_facts import stride


def loop_steps(op: loop.AnyLoop) -> float:
    """Return the number of steps of a loop; a bounded reduction counts steps below its bound."""
    return steps_of(op) if isinstance(op, loop.ReduceOp) else prod(op.axis_extents())


def is_unrolled(op: loop.AnyLoop) -> bool:
    """True if the steps of a loop are written one after the other, or if there is only one."""
    return isinstance(op, loop.ReduceOp) and (op.is_unrolled or op.axis_extents()[0] == 1)


def is_fused(op: Operation) -> bool:
    """True if the op is a float product whose only use is the yield of a reduction that adds."""
    user = op.results[0].get_user_of_unique_use() if op.results else None
    around = user.parent_op() if isinstance(user, loop.YieldOp) else None
    return (
        isinstance(op, arith.MulfOp)
        and isinstance(around, loop.ReduceOp)
        and around.monoid.data is Monoid.ADD
    )


def is_shared(op: loop.LoadOp | loop.StoreOp) -> bool:
    """True if the op accesses shared memory."""
    return memref_type(op.memref).memory_space == tile.SHARED


def box_wavefronts(op: tile.StageOp) -> float:
    """Return the wavefronts by which TMA fills a slab, 0 for other transports."""
    if op.transport_kind is not Transport.TMA:
        return 0.0
    return slab_bytes(memref_type(op.slab)) / (BANKS * BANK_BYTES)


def staged_sectors(op: tile.StageOp) -> float:
    """Return the sectors that a block reads to fill a slab: whole rows, or one for each element."""
    extents, found = op.axis_extents(), 0.0
    for load in (load for load in op.body.block.ops if isinstance(load, loop.LoadOp)):
        size = size_of(memref_type(load.memref).element_type)
        named = [at for at, axis in enumerate(op.body.block.args) if axis in load.indices]
        rows = [at for at in named if stride(load, op.body.block.args[at]) == 1]
        elements = prod(extents[at] for at in named)
        of_row = extents[rows[-1]] if rows else 1
        found += elements // of_row * -(-of_row * size // SECTOR_BYTES)
    return found
