# SPDX-License-Identifier: Apache-2.0
"""
A prediction of the work of a launch from its Tile IR: instructions, sectors, wavefronts, and the
time of a single warp.

Every op counts as often as a thread runs it: for each step of the loops around it, and for each
step of the register axes that it depends on. A load or store counts once per instruction, which may
move a vector. A product that is summed is one instruction with the sum. Reductions by matrix
instructions are counted as a whole (`passes/cost/matrix_work.py`). A stage counts per thread,
and depends on its transport: threads that load and store, threads that only issue copies
(`cp.async`), or the tensor memory accelerator.

A single warp waits for each of its loads. An unrolled loop waits once for all of its steps, another
loop in each step. A ring that is filled ahead hides as much of the wait as its other steps take.
The clocks of memory and joins were measured on an H100.
"""

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from xdsl.ir import Block, Operation, SSAValue

from tilewright.codegen.report.critical_path import DEVICE_LATENCY, L2_LATENCY
from tilewright.codegen.report.estimate import Work
from tilewright.dialects import loop, tile
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.target import WARP_SIZE, Target
from tilewright.dialects.tile import Join, Transport
from tilewright.dialects.tile.attributes import Level
from tilewright.passes.cost.global_sectors import SECTOR_BYTES, sectors
from tilewright.passes.cost.instruction_costs import instructions, is_computation
from tilewright.passes.cost.kernel_cost import kernel_cost
from tilewright.passes.cost.live_registers import NVRTC_EXTRA_REGISTERS
from tilewright.passes.cost.matrix_work import MatrixWork, matrix_work
from tilewright.passes.cost.slab_conflicts import SlabConflicts
from tilewright.passes.cost.time_models import JOIN
from tilewright.passes.facts.block_joins import block_joins
from tilewright.passes.facts.combines import ThreadJoin, join_across
from tilewright.passes.facts.footprint import share_of_mask
from tilewright.passes.facts.memory_access import accesses_of
from tilewright.passes.facts.slab_walk import SlabWalk
from tilewright.tuning.evaluators.op_work import (
    box_wavefronts,
    is_fused,
    is_shared,
    is_unrolled,
    loop_steps,
    staged_sectors,
)

_LOOP = 4
"""Instructions of a loop step in addition to its body: count, compare, branch, an address."""

_BARRIER = 30
"""Clocks until all threads of a block have reached a barrier."""

_SECTORS_AT_ONCE = 4
"""Sectors of the cache in a wavefront: 128 bytes, as in shared memory."""

_SHARED_LATENCY = 30
_SHUFFLE_LATENCY = 25

_ALONE = 4
"""Clocks until an instruction that depends on the previous one can be issued."""

_COPIED = {Transport.SYNC: 3, Transport.CP_ASYNC: 2, Transport.TMA: 0}
"""Instructions per vector that a thread copies into a slab: address, load, store."""


def tile_work(launch: tile.LaunchOp, target: Target) -> Work:
    """Return the work of one launch; its number of resident blocks is 0 if a block does not fit."""
    cost = kernel_cost(launch.kernel)
    count = _Count(launch, target)
    count.visit(launch.body.block, 1.0)
    needed = cost.registers + (NVRTC_EXTRA_REGISTERS if _hides_registers(launch) else 0)
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
        mma=cost.mma,
        wgmma=cost.wgmma,
    )


def _hides_registers(launch: tile.LaunchOp) -> bool:
    """True if NVRTC needs more registers for a register tile than the launch's cost says."""
    by_matrix = any(isinstance(op, loop.ReduceOp) and op.instruction for op in ops_in(launch))
    return bool(launch.axes_at(Level.REGISTER)) and not by_matrix


def _registers_given(launch: tile.LaunchOp, target: Target) -> int:
    """
    Return the number of registers that ptxas allows a thread, given the threads of a block and
    `min_blocks`.
    """
    blocks = 1 if launch.min_blocks is None else launch.min_blocks.value.data
    return target.registers_given(launch.num_threads, blocks)


class _Path(NamedTuple):
    """Time of a warp for some ops, split into execution and waits."""

    clocks: float = 0.0
    waits: float = 0.0
    """Longest wait; adjacent ops wait at the same time."""


class _Count:
    """A walk that adds up the work of a thread and the time of a single warp."""

    def __init__(self, launch: tile.LaunchOp, target: Target):
        self.launch, self.target = launch, target
        self.conflicts = SlabConflicts(launch)
        self.registers = self.conflicts.registers
        self.instructions = self.float32 = self.special = self.sectors = 0.0
        self.wavefronts = self.joining = 0.0

    def visit(self, block: Block, runs: float) -> None:
        """Count the ops of a block that a thread runs `runs` times."""
        for op in block.ops:
            issued = runs * self._issued(op)
            self.instructions += issued
            if isinstance(op, loop.YieldOp) or op.name.startswith("arith."):
                self.float32 += issued
            if op.name.startswith("math."):
                self.special += runs * self._copies(op.operands)
            if isinstance(op, loop.LoadOp | loop.StoreOp) and not is_shared(op):
                self._count_access(op, runs)
            if isinstance(op, tile.StageOp):
                self.sectors += runs * staged_sectors(op) / self.conflicts.warps
                self.wavefronts += runs * box_wavefronts(op) / self.conflicts.warps
            if isinstance(op, tile.CombineOp) and op.join is not None:
                self.joining += JOIN.get(op.join.data, JOIN[Join.LAST_BLOCK])
            if (matrix := self._matrix(op)) is not None:
                self.instructions += runs * matrix.instructions
                self.float32 += runs * matrix.float32
            elif isinstance(op, loop.AnyLoop):
                steps = runs * loop_steps(op)
                self.instructions += 0 if is_unrolled(op) else steps * _LOOP
                self.visit(op.body.block, steps)

    def path(self, block: Block, latency: float) -> float:
        """
        Return the clocks that a single warp takes to run the ops of `block` once, including its
        waits.
        """
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
        Return the path of all steps of a loop; unrolling or a ring that is filled ahead shortens
        the waits.
        """
        if (matrix := self._matrix(op)) is not None:
            return _Path(matrix.clocks(self.target), _SHARED_LATENCY)
        clocks, waits = self._path(op.body.block, latency)
        steps = loop_steps(op)
        if is_unrolled(op):
            return _Path(steps * clocks, waits)
        ahead = [i.lookahead for i in op.body.block.ops if isinstance(i, tile.StageOp)]
        hidden = min(ahead, default=0) * clocks
        return _Path(steps * (clocks + _LOOP + max(0.0, waits - hidden)), waits if hidden else 0.0)

    def _waits(self, op: Operation, latency: float) -> float:
        """Return the clocks until a warp has the result of a load or a stage."""
        if isinstance(op, tile.StageOp):
            return latency
        if not isinstance(op, loop.LoadOp):
            return 0.0
        return _SHARED_LATENCY if is_shared(op) else latency

    def _meeting(self, op: Operation) -> float:
        """Return the clocks in which threads synchronise or exchange values."""
        if isinstance(op, tile.StageOp | tile.ShareOp):
            return _BARRIER
        if not isinstance(op, tile.CombineOp):
            return 0.0
        width = self._width(op)
        shuffles = min(width, WARP_SIZE).bit_length() - 1
        barriers = 2 if self._how(op) in (ThreadJoin.WARPS, ThreadJoin.SHARED) else 0
        return shuffles * _SHUFFLE_LATENCY + barriers * _BARRIER

    def _issued(self, op: Operation) -> float:
        """Return the instructions of a thread for one run of an op, without nested loops."""
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
            case _ if is_computation(op) and not is_fused(op):
                return copies * instructions(op)
            case _:
                return 0

    def _count_access(self, op: loop.LoadOp | loop.StoreOp, runs: float) -> None:
        """
        Count the global memory access `op` of a warp, which a thread runs `runs` times:
        instructions, sectors and wavefronts. The pipe is that of shared memory.
        """
        width = self.conflicts.width(op)
        (access,) = accesses_of(op)
        touched = sectors(access._replace(width=width), self.launch.num_threads).actual
        share = share_of_mask(op) if access.skips_where_masked else 1
        requests = runs * share * self._copies(op.operands) / width
        self.instructions += requests  # for the address
        self.sectors += requests * touched
        self.wavefronts += requests * max(1, touched / _SECTORS_AT_ONCE)

    def _copies(self, values: Sequence[SSAValue]) -> int:
        """
        Return the number of copies that a thread computes of a value that depends on `values`: one
        per step of their register axes.
        """
        axes = self.registers.of(values)
        return prod(self.registers.extents[axis] for axis in axes)

    def _matrix(self, op: Operation) -> MatrixWork | None:
        """Return the work of a warp in a reduction by matrix instructions; None for other ops."""
        if not isinstance(op, loop.ReduceOp):
            return None
        return matrix_work(op, lambda value: self._copies([value]))

    def _width(self, op: tile.CombineOp) -> int:
        return prod(a.extent for a in self.launch.thread_axes() if a.value in op.axes)

    def _how(self, op: tile.CombineOp) -> ThreadJoin:
        return join_across(self.launch.thread_axes(), op.axes)
