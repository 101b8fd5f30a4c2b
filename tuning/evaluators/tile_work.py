# SPDX-License-Identifier: Apache-2.0
"""
What a launch does, foretold from Tile IR: instructions, sectors, wavefronts, and how long one warp
takes by itself.

Every op counts as often as a thread does it: for each step of the loops around it, and for each
step of the register axes that it depends on; a load or store only once for what one instruction
moves. A product that is summed up is one instruction with the sum. What is staged counts as the
threads share it, and depends on who copies: threads that load and store, threads that only ask
(`cp.async`), or the tensor memory accelerator.

A warp that is alone waits for whatever it loads. A loop that is unrolled waits once for all of its
steps, any other in each step; a ring that is filled ahead hides as much of the wait as its other
steps take. The clocks of memory and joins were measured on an H100.
"""

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from xdsl.dialects import arith
from xdsl.ir import Block, Operation, SSAValue

from tilewright.codegen.report.critical_path import DEVICE_LATENCY, L2_LATENCY
from tilewright.codegen.report.estimate import Work
from tilewright.dialects import loop, tile
from tilewright.dialects.monoid import Monoid
from tilewright.dialects.target import WARP_SIZE, Target
from tilewright.dialects.tile import Join, Transport
from tilewright.dialects.tile.attributes import Level
from tilewright.dialects.types import memref_type, size_of
from tilewright.passes.cost.global_sectors import SECTOR_BYTES, sectors
from tilewright.passes.cost.instruction_costs import instructions, is_computation
from tilewright.passes.cost.kernel_cost import kernel_cost
from tilewright.passes.cost.live_registers import BESIDE_ESTIMATE
from tilewright.passes.cost.slab_conflicts import SlabConflicts
from tilewright.passes.cost.time_models import JOIN
from tilewright.passes.facts.block_joins import block_joins
from tilewright.passes.facts.combines import ThreadJoin, join_across
from tilewright.passes.facts.footprint import share_of_mask, steps_of
from tilewright.passes.facts.memory_access import accesses_of
from tilewright.passes.facts.slab_walk import SlabWalk
from tilewright.passes.tile.row_facts import stride

_LOOP = 4
"""Instructions of a step of a loop beside its body: count, compare, branch, an address."""

_BARRIER = 30
"""Clocks until all threads of a block have met."""

_SECTORS_AT_ONCE = 4
"""Sectors of the cache in a wavefront: 128 bytes, as of shared memory."""

_SHARED_LATENCY = 30
_SHUFFLE_LATENCY = 25

_ALONE = 4
"""Clocks until the next instruction can have a result."""

_COPIED = {Transport.SYNC: 3, Transport.CP_ASYNC: 2, Transport.TMA: 0}
"""Instructions for a vector that a thread brings into a slab: address, load, store."""


def tile_work(launch: tile.LaunchOp, target: Target) -> Work:
    """Return the work of one launch; no block is resident if a block does not fit."""
    cost = kernel_cost(launch.kernel)
    count = _Count(launch)
    count.visit(launch.body.block, 1.0)
    needed = cost.registers + (BESIDE_ESTIMATE if launch.axes_at(Level.REGISTER) else 0)
    given = _registers_given(launch, target)
    resident = target.blocks_per_sm(cost.threads, cost.shared_bytes, min(needed, given))
    spilled = 1 + max(0, needed - given) / given
    warps = cost.blocks * target.warps_of(cost.threads)
    sector_bytes = warps * count.sectors * SECTOR_BYTES
    first = min(1.0, cost.global_bytes / sector_bytes) if sector_bytes else 1.0
    latency = first * DEVICE_LATENCY + (1 - first) * L2_LATENCY
    path = count.path(launch.body.block, latency) + count.joining * target.clock
    joins = block_joins(launch)
    return Work(
        cost.blocks,
        resident,
        cost.global_bytes,
        sector_bytes,
        instructions=warps * count.instructions * spilled,
        float32=warps * count.float32,
        special=warps * count.special,
        wavefronts=cost.wavefronts + warps * count.wavefronts,
        path_clocks=path * spilled,
        cluster=1 if joins is None else joins.kind.cluster(joins.blocks),
    )


def _registers_given(launch: tile.LaunchOp, target: Target) -> int:
    """Return the registers that ptxas lets a thread have."""
    blocks = 1 if launch.min_blocks is None else launch.min_blocks.value.data
    return target.registers_given(launch.num_threads, blocks)


class _Path(NamedTuple):
    """How long a warp takes for some ops once, waiting aside, and what it waits for."""

    clocks: float = 0.0
    waits: float = 0.0
    """The longest of what is waited for, as what stands together is waited for together."""


class _Count:
    """What a thread does, and a warp alone."""

    def __init__(self, launch: tile.LaunchOp):
        self.launch = launch
        self.conflicts = SlabConflicts(launch)
        self.registers = self.conflicts.registers
        self.instructions = self.float32 = self.special = self.sectors = 0.0
        self.wavefronts = self.joining = 0.0

    def visit(self, block: Block, runs: float) -> None:
        """Count the ops of a block that a thread runs so often."""
        for op in block.ops:
            issued = runs * self._issued(op)
            self.instructions += issued
            if isinstance(op, loop.YieldOp) or op.name.startswith("arith."):
                self.float32 += issued
            if op.name.startswith("math."):
                self.special += runs * self._copies(op.operands)
            if isinstance(op, loop.LoadOp | loop.StoreOp) and not _is_shared(op):
                self._count_access(op, runs)
            if isinstance(op, tile.StageOp):
                self.sectors += runs * _staged_sectors(op) / self.conflicts.warps
            if isinstance(op, tile.CombineOp) and op.join is not None:
                self.joining += JOIN.get(op.join.data, JOIN[Join.LAST_BLOCK])
            if isinstance(op, loop.AnyLoop):
                steps = runs * _steps(op)
                self.instructions += 0 if _is_unrolled(op) else steps * _LOOP
                self.visit(op.body.block, steps)

    def path(self, block: Block, latency: float) -> float:
        """Return the clocks of a warp that is alone, for a block once."""
        path = self._path(block, latency)
        return path.clocks + path.waits

    def _path(self, block: Block, latency: float) -> _Path:
        clocks, waits = 0.0, 0.0
        for op in block.ops:
            of_op = self._path_of_loop(op, latency) if isinstance(op, loop.AnyLoop) else _Path()
            clocks += of_op.clocks + max(self._issued(op), _ALONE if is_computation(op) else 0)
            clocks += self._meeting(op)
            waits = max(waits, of_op.waits, self._waits(op, latency))
        return _Path(clocks, waits)

    def _path_of_loop(self, op: loop.AnyLoop, latency: float) -> _Path:
        """
        Return all steps; one that is unrolled, or has a ring that is filled ahead, waits for
        little.
        """
        clocks, waits = self._path(op.body.block, latency)
        steps = _steps(op)
        if _is_unrolled(op):
            return _Path(steps * clocks, waits)
        ahead = [i.lookahead for i in op.body.block.ops if isinstance(i, tile.StageOp)]
        hidden = min(ahead, default=0) * clocks
        return _Path(steps * (clocks + _LOOP + max(0.0, waits - hidden)), waits if hidden else 0.0)

    def _waits(self, op: Operation, latency: float) -> float:
        """Clocks until a warp has what it asks for."""
        if isinstance(op, tile.StageOp):
            return latency
        if not isinstance(op, loop.LoadOp):
            return 0.0
        return _SHARED_LATENCY if _is_shared(op) else latency

    def _meeting(self, op: Operation) -> float:
        """Clocks in which threads meet."""
        if isinstance(op, tile.StageOp | tile.ShareOp):
            return _BARRIER
        if not isinstance(op, tile.CombineOp):
            return 0.0
        width = self._width(op)
        shuffles = min(width, WARP_SIZE).bit_length() - 1
        barriers = 2 if self._how(op) in (ThreadJoin.WARPS, ThreadJoin.SHARED) else 0
        return shuffles * _SHUFFLE_LATENCY + barriers * _BARRIER

    def _issued(self, op: Operation) -> float:
        """Instructions of a thread for an op, what is inside loops aside."""
        copies = self._copies(op.operands)
        match op:
            case loop.LoadOp() | loop.StoreOp():
                return copies / self.conflicts.width(op)
            case loop.YieldOp():
                return copies * sum(not isinstance(v.owner, loop.ReduceOp) for v in op.values)
            case tile.StageOp():
                walk = SlabWalk.of(op, self.launch.num_threads)
                inside = sum(map(instructions, filter(is_computation, op.body.block.ops)))
                return walk.steps * (_COPIED[op.transport_kind] + walk.width * inside)
            case tile.CombineOp():
                kept = self._copies(op.results)
                per_result = 2 * (min(self._width(op), WARP_SIZE).bit_length() - 1)
                return len(op.results) * (copies - kept + kept * per_result)
            case _ if is_computation(op) and not _is_fused(op):
                return copies * instructions(op)
            case _:
                return 0

    def _count_access(self, op: loop.LoadOp | loop.StoreOp, runs: float) -> None:
        """What a warp does to global memory; it goes through the same pipe as shared memory."""
        width = self.conflicts.width(op)
        (access,) = accesses_of(op)
        touched = sectors(access._replace(width=width), self.launch.num_threads).actual
        share = share_of_mask(op) if access.heeds_mask else 1
        requests = runs * share * self._copies(op.operands) / width
        self.instructions += requests  # for the address
        self.sectors += requests * touched
        self.wavefronts += requests * max(1, touched / _SECTORS_AT_ONCE)

    def _copies(self, values: Sequence[SSAValue]) -> int:
        """How many times a thread has what is computed from `values`."""
        axes = self.registers.of(values)
        return prod(self.registers.extents[axis] for axis in axes)

    def _width(self, op: tile.CombineOp) -> int:
        return prod(a.extent for a in self.launch.thread_axes() if a.value in op.axes)

    def _how(self, op: tile.CombineOp) -> ThreadJoin:
        return join_across(self.launch.thread_axes(), op.axes)


def _steps(op: loop.AnyLoop) -> float:
    return steps_of(op) if isinstance(op, loop.ReduceOp) else prod(op.axis_extents())


def _is_unrolled(op: loop.AnyLoop) -> bool:
    return isinstance(op, loop.ReduceOp) and (op.is_unrolled or op.axis_extents()[0] == 1)


def _is_fused(op: Operation) -> bool:
    """True if it is a product that only a sum takes."""
    user = op.results[0].get_user_of_unique_use() if op.results else None
    around = user.parent_op() if isinstance(user, loop.YieldOp) else None
    return (
        isinstance(op, arith.MulfOp)
        and isinstance(around, loop.ReduceOp)
        and around.monoid.data is Monoid.ADD
    )


def _is_shared(op: loop.LoadOp | loop.StoreOp) -> bool:
    return memref_type(op.memref).memory_space == tile.SHARED


def _staged_sectors(op: tile.StageOp) -> float:
    """Sectors that a block reads to fill a slab: whole rows, or one for each element."""
    extents, found = op.axis_extents(), 0.0
    for load in (load for load in op.body.block.ops if isinstance(load, loop.LoadOp)):
        size = size_of(memref_type(load.memref).element_type)
        named = [at for at, axis in enumerate(op.body.block.args) if axis in load.indices]
        rows = [at for at in named if stride(load, op.body.block.args[at]) == 1]
        elements = prod(extents[at] for at in named)
        of_row = extents[rows[-1]] if rows else 1
        found += elements // of_row * -(-of_row * size // SECTOR_BYTES)
    return found
