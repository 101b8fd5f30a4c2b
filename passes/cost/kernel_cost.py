# SPDX-License-Identifier: Apache-2.0
"""
The cost of one launch of a kernel, counted from its IR alone at Loop, Tile or Kernel IR.

Each op counts as often as it runs: once for every block, thread, loop step and register axis that
it depends on. Under a mask it counts for the share of the mask's range in which the mask holds. In
a bounded loop it counts for the steps below the bound. The counts are estimates, made to compare a
kernel before and after a rewrite.
"""

from collections import defaultdict
from collections.abc import Sequence
from math import prod

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, SSAValue

from tilewright.dialects import kernel, loop, tile
from tilewright.dialects.matrix_instruction import GROUP_THREADS, GROUP_WARPS
from tilewright.dialects.target import MMA_FLOPS, WARP_SIZE
from tilewright.dialects.tile import Transport
from tilewright.passes.cost.global_sectors import SECTOR_BYTES, sectors
from tilewright.passes.cost.instruction_costs import flops
from tilewright.passes.cost.launch_cost import KernelCost
from tilewright.passes.cost.live_registers import estimated_registers
from tilewright.passes.cost.matrix_work import MatrixWork, matrix_work
from tilewright.passes.cost.shared_banks import wavefronts
from tilewright.passes.cost.shared_budget import MBARRIER_BYTES, shared_bytes_at_once
from tilewright.passes.cost.slab_conflicts import SlabConflicts
from tilewright.passes.facts.combines import ThreadJoin, adjacent_lanes, join_across
from tilewright.passes.facts.footprint import (
    box_within,
    bytes_of,
    element_bytes,
    elements_of_box,
    elements_touched,
    share_of_condition,
    share_of_mask,
    steps_of,
    trips,
)
from tilewright.passes.facts.memory_access import Access, accesses_of
from tilewright.passes.facts.register_axes import RegisterAxes


def kernel_cost(op: loop.KernelOp | kernel.FuncOp) -> KernelCost:
    """Return the cost of one launch of `op`."""
    launch = op.body.block.last_op
    if isinstance(op, kernel.FuncOp):
        count = _Count(None, op.grid.value.data, op.block.value.data)
        return count.finish(op.body.block, op.body.block)
    if isinstance(launch, tile.LaunchOp):
        count = _Count(launch, launch.num_blocks, launch.num_threads)
        return count.finish(op.body.block, launch.body.block)
    return _Count(None, 0, 0).finish(op.body.block, op.body.block)


class _Count:
    """
    A walk over a kernel that adds up its cost. `runs` is the number of times that a body runs,
    summed over all threads of the launch.
    """

    def __init__(self, launch: tile.LaunchOp | None, blocks: int, threads: int):
        self.launch = launch
        self.registers = RegisterAxes(launch) if launch is not None else None
        self.slabs = SlabConflicts(launch) if launch is not None else None
        self.cost = KernelCost(blocks=blocks, threads=threads)
        self.runs = blocks * threads or 1
        self.reads = defaultdict[SSAValue, dict[object, int]](dict)
        self.writes = defaultdict[SSAValue, dict[object, int]](dict)
        self.placed_end = 0
        """End of the last shared array that has a place."""

    def finish(self, kernel_body: Block, thread_body: Block) -> KernelCost:
        """Return the cost of a kernel in which every thread runs `thread_body`."""
        self._visit(thread_body, self.runs)
        if self.launch is not None:
            self.cost.shared_bytes = shared_bytes_at_once(self.launch, {})
        self.cost.registers = estimated_registers(kernel_body, self._held)
        self.cost.global_bytes = sum(
            min(sum(touched.values()) * element_bytes(buffer), bytes_of(buffer))
            for accesses in (self.reads, self.writes)
            for buffer, touched in accesses.items()
        )
        return self.cost

    def _copies(self, values: Sequence[SSAValue], without: Sequence[SSAValue] = ()) -> int:
        """
        Return the number of copies that a thread computes of a value that depends on `values`: one
        per step of their register axes.
        """
        if self.registers is None:
            return 1
        axes = self.registers.of(values) - frozenset(without)
        return prod(n for axis, n in self.registers.extents.items() if axis in axes)

    def _held(self, value: SSAValue) -> int:
        """
        Return the number of copies of a value that a thread holds; 0 for the step of a register
        axis.
        """
        is_register_axis = self.registers is not None and value in self.registers.extents
        return 0 if is_register_axis else self._copies([value])

    def _visit(self, block: Block, runs: float) -> None:
        for op in block.ops:
            self._count(op, runs)

    def _count(self, op: Operation, runs: float) -> None:
        match op:
            case (
                loop.LoadOp()
                | loop.StoreOp()
                | kernel.CopyOp()
                | kernel.CopyAsyncOp()
                | kernel.LoadMatrixOp()
            ):
                for access in accesses_of(op):
                    self._count_access(access, runs * self._copies(op.operands))
            case kernel.TmaCopyOp():
                self._count_box(op, runs / self.cost.threads)
            case loop.ReduceOp():
                matrix = matrix_work(op, self._held)
                if matrix is not None:
                    self._count_matrix(matrix, runs / WARP_SIZE)
                    return
                steps = runs * steps_of(op)
                self.cost.flops += steps * self._copies(op.yield_op.operands) * len(op.results)
                self._visit(op.body.block, steps)
            case loop.PrefixOp():
                self.cost.flops += runs * self._copies(op.operands) * len(op.results)
            case loop.ForOp() | loop.ScanOp() | kernel.UnrollOp():
                self._visit(op.body.block, runs * prod(op.axis_extents()))
            case tile.CombineOp():
                self._count_combine(op, runs)
            case tile.StageOp():
                self._count_stage(op, runs)
            case tile.ShareOp():
                self.cost.barriers += self._barriers(runs)
            case kernel.MatrixMultiplyOp():
                self._count_multiplications(runs / WARP_SIZE, 2 * WARP_SIZE * op.products)
            case kernel.GroupMultiplyOp():
                products = op.columns.value.data // 8 * GROUP_WARPS
                runs *= products / GROUP_THREADS
                self._count_multiplications(runs, MMA_FLOPS, by_group=True)
            case scf.ForOp():
                self._visit(op.body.block, runs * trips(op))
            case scf.IfOp():
                self._visit(op.true_region.block, runs * share_of_condition(op.cond))
            case kernel.SharedOp():
                self.cost.shared_bytes += self._bytes_added(op)
            case kernel.BarrierOp() | kernel.NamedBarrierOp():
                self.cost.barriers += runs / self.runs
            case kernel.RingOp():
                self.cost.shared_bytes += _mbarrier_bytes(op.ring)
            case kernel.RingWaitOp() if not _mbarrier_bytes(op.ring):
                self.cost.barriers += runs / self.runs
            case _:
                self.cost.flops += runs * self._copies(op.operands) * flops(op)

    def _bytes_added(self, op: kernel.SharedOp) -> int:
        """
        Return the bytes that a shared array adds; with a place, only those beyond the arrays before
        it.
        """
        if op.place is None:
            return op.num_bytes
        end, self.placed_end = self.placed_end, max(self.placed_end, op.place.stop)
        return self.placed_end - end

    def _count_access(self, access: Access, runs: float) -> None:
        if access.is_in_registers or (access.is_shared and self.slabs is not None):
            return  # accesses to slabs are counted with their stage
        runs *= share_of_mask(access.op) if access.skips_where_masked else 1
        runs *= access.lanes / WARP_SIZE
        if access.is_shared:
            taken = wavefronts(access, self.cost.threads)
            requests = runs / max(1, taken.lanes)
            self.cost.wavefronts += requests * taken.actual
            self.cost.ideal_wavefronts += requests * taken.ideal
            return
        self.cost.accessed_bytes += runs * access.num_bytes
        touched = sectors(access, self.cost.threads)
        requests = runs / max(1, touched.lanes)
        self.cost.sectors += requests * touched.actual
        self.cost.ideal_sectors += requests * touched.ideal
        accesses = self.writes if access.is_store else self.reads
        where = access.map, tuple(access.indices), access.width
        accesses[access.memref][where] = elements_touched(access)

    def _count_matrix(self, matrix: MatrixWork, runs: float) -> None:
        """Count a reduction by matrix instructions that warps run `runs` times."""
        by_group = matrix.tile.instruction.is_grouped
        number, flops_each = runs * matrix.multiplications, matrix.flops_each
        self._count_multiplications(number, flops_each, by_group=by_group)
        self.cost.flops += runs * matrix.float32_flops * WARP_SIZE

    def _count_multiplications(
        self, number: float, flops_each: int, *, by_group: bool = False
    ) -> None:
        """Count `number` matrix instructions of warps, or as many products of warpgroups."""
        if by_group:
            self.cost.wgmma += number
        else:
            self.cost.mma += number
        self.cost.matrix_flops += number * flops_each
        self.cost.flops += number * flops_each

    def _count_box(self, op: kernel.TmaCopyOp, runs: float) -> None:
        """
        Count a copy of a box to shared memory (TMA). One thread starts it, and the hardware moves
        whole rows.
        """
        *rows, row = box_within(op)
        row_bytes = row * element_bytes(op.source)
        self.cost.accessed_bytes += runs * prod(rows) * row_bytes
        self.cost.sectors += runs * prod(rows) * -(-row_bytes // SECTOR_BYTES)
        self.cost.ideal_sectors += runs * -(-prod(rows) * row_bytes // SECTOR_BYTES)
        where = op.map, tuple(op.indices), tuple(op.box.get_values())
        self.reads[op.source][where] = elements_of_box(op)

    def _count_combine(self, op: tile.CombineOp, runs: float) -> None:
        assert self.launch is not None
        axes = self.launch.thread_axes()
        width = prod(axis.extent for axis in axes if axis.value in op.axes)
        how, lanes = join_across(axes, op.axes), adjacent_lanes(axes, op.axes)
        joins = {
            ThreadJoin.NONE: 0,
            ThreadJoin.SHUFFLE: width.bit_length() - 1,
            ThreadJoin.WARPS: WARP_SIZE.bit_length() - 1 + width // WARP_SIZE,
            ThreadJoin.SHARED: lanes.bit_length() - 1 + width // lanes,
        }[how]
        for result in op.results:
            needed = op.operands_of(result.index)
            results = self._copies(needed, without=op.axes)
            self.cost.flops += runs * (
                self._copies((*needed, *op.axes)) - results + results * joins
            )
        results = self._copies(op.operands, without=op.axes)
        if how in (ThreadJoin.WARPS, ThreadJoin.SHARED):
            self.cost.barriers += self._barriers(runs) * results

    def _count_stage(self, op: tile.StageOp, runs: float) -> None:
        """Count the work of filling a slab, which the threads of a block share."""
        assert self.slabs is not None
        traffic, fills = self.slabs.traffic(op), runs / self.cost.threads
        self.cost.wavefronts += fills * traffic.wavefronts
        self.cost.ideal_wavefronts += fills * traffic.ideal
        self.cost.barriers += self._barriers(runs)
        self._visit(op.body.block, fills * prod(op.axis_extents()))

    def _barriers(self, runs: float) -> float:
        """
        Return the barriers of a block: one after its threads have written shared memory, and in a
        loop another one before the next write.
        """
        times = runs / self.runs
        return times if times <= 1 else 2 * times


def _mbarrier_bytes(ring: SSAValue) -> int:
    """Return the bytes of a ring's own mbarriers; 0 if barriers of the block do the waiting."""
    assert isinstance(ring.type, kernel.RingType)
    is_tma = ring.type.transport.data is Transport.TMA
    return 2 * MBARRIER_BYTES * ring.type.depth.data if is_tma else 0
