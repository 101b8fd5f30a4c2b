# SPDX-License-Identifier: Apache-2.0
"""
Lowering of a launch to a kernel function, op by op.

Ids come first, then the scalars that all threads share, then the body. It consists of runs of ops
that depend on the same register axes, each run in one nest over these axes. Loops, combines, slabs,
and stores of blocks that join are lowered by the files named after them. All other ops are cloned.
"""

from collections.abc import Container, Sequence

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import kernel, loop, tile
from tilewright.dialects.axes import Access, cached_ranges
from tilewright.dialects.index import delinearize
from tilewright.dialects.tile import Join
from tilewright.dialects.tile.attributes import Axis, Level
from tilewright.dialects.types import memref_type
from tilewright.passes.facts.block_joins import BlockJoins, block_joins
from tilewright.passes.facts.held_fragments import is_held_in_fragments
from tilewright.passes.facts.nest import softmax_around
from tilewright.passes.facts.vector_width import require_aligned_arguments
from tilewright.passes.kernel.combine import Combining
from tilewright.passes.kernel.emitter import Emitter
from tilewright.passes.kernel.loops import Loops
from tilewright.passes.kernel.phase_comments import Commenting, drop_only_comment
from tilewright.passes.kernel.staging import Staging
from tilewright.passes.kernel.thread_values import ThreadValues
from tilewright.passes.reporting.refusal import refused


class LaunchLowering:
    """Walk over a launch that builds the function of its kernel."""

    def __init__(self, source: loop.KernelOp, launch: tile.LaunchOp):
        self.launch = launch
        # the function exists before its body: ids take their ranges from it
        self.function = _empty_function(source, launch)
        self.joins = _joins_of(source, launch)
        self.emit = Emitter(self.function.body.block)
        self.values = ThreadValues(launch, self.emit)
        self.comments = Commenting(self.emit)
        for old, new in zip(source.body.block.args, self.function.body.block.args, strict=True):
            new.name_hint = old.name_hint
            self.values.set(old, new)
        with self.emit.at(launch):
            block, thread = self._bind_ids()
        threads = launch.thread_axes()
        self.combining = Combining(self.values, self.emit, thread, threads)
        self.shares = _Shares(self.values, self.emit, thread, threads)
        self.staging = Staging(
            self.values, self.emit, thread, launch.num_threads, self._lower_block
        )
        self.loops = Loops(self.values, self.emit, self.comments, self.staging, self._lower_block)
        self.joining = None
        if self.joins is not None:
            from tilewright.passes.kernel.join_blocks import JoiningBlocks

            ids = block, thread
            self.joining = JoiningBlocks(
                self.joins, self.function, self.values, self.emit, ids, self.combining
            )

    def _bind_ids(self) -> tuple[SSAValue, SSAValue]:
        """
        Return the ids of block and thread, after computing the block and thread axes from them.
        """
        block = self.emit.value(kernel.BlockIdOp(), "block")
        thread = self.emit.value(kernel.ThreadIdOp(), "thread")
        joined: Sequence[Axis] = [] if self.joins is None else self.joins.axes
        apart = [axis for axis in self.launch.axes_at(Level.BLOCK) if axis not in joined]
        self.values.bind([*apart, *joined], block)  # blocks that join are adjacent
        self.values.bind(self.launch.thread_axes(), thread)
        return block, thread

    def run(self) -> kernel.FuncOp:
        """Return the kernel function that does the work of the launch."""
        if self.joins is not None and self.joins.kind is Join.CLUSTER:
            self.function.cluster = IntegerAttr(self.joins.blocks, i64)
        with cached_ranges(), self.emit.at(self.launch):
            for op in self.launch.scalars():
                self._lower(op)
            self._lower_block(self.launch.body.block)
            if self.joining is not None:
                self.joining.rest.close()
        require_aligned_arguments(self.function)
        drop_only_comment(self.function)
        return self.function

    def _lower_block(self, block: Block, known: Container[Operation] = ()) -> None:
        """
        Lower the ops of a block, except the ops in `known`, whose results are already defined.
        """
        self.comments.enter(block, elsewhere=self.loops.in_rings)
        for axes, ops in self.values.registers.runs(block):
            ops = [op for op in ops if op not in known and not self._is_done_already(op)]
            if ops:
                self._lower_run(axes, ops)

    def _is_done_already(self, op: Operation) -> bool:
        """True if `op` needs no code: values are joined already, or threads hold what they need."""
        if isinstance(op, tile.ShareOp):
            return is_held_in_fragments(op)
        return self.loops.is_joined_already(op) or self.loops.softmax.is_finished_later(op)

    def _lower_run(self, axes: Sequence[SSAValue], ops: Sequence[Operation]) -> None:
        """Lower ops that depend on the same register axes, in one nest over these axes."""
        for op in ops:
            if not isinstance(op, loop.ReduceOp):  # `lower_reduce` places its own comment
                self.comments.above(op)
        if axes:
            self.values.keep([r for op in ops for r in op.results if _is_used_outside(r, ops)])
        with self.values.nest(axes):
            for op in ops:
                self._lower(op)

    def _lower(self, op: Operation) -> None:
        with self.emit.at(op):
            match op:
                case loop.ReduceOp():
                    self.loops.lower_reduce(op)
                case loop.ForOp():
                    self.loops.lower_for(op)
                case loop.ScanOp():
                    self.loops.lower_scan(op)
                case loop.PrefixOp():
                    self.loops.lower_prefix(op)
                case loop.YieldOp():
                    self.loops.lower_yield(op)
                case tile.CombineOp():
                    self._lower_combine(op)
                case tile.ShareOp():
                    self.shares.lower(op)
                case tile.StageOp():
                    self._lower_stage(op)
                case loop.StoreOp() if self.joining is not None:
                    self._lower_store(op)
                case _:
                    self._copy(op)

    def _copy(self, op: Operation) -> None:
        if op.regions:
            raise refused(op, f"cannot lower '{op.name}'")
        self.values.define(op.results, self.emit.op(self.values.clone(op)).results)

    def _lower_combine(self, op: tile.CombineOp) -> None:
        self.combining.lower(op)
        if softmax_around(op):
            self.loops.softmax.lower_largest(op)
        if self.joining is None or op not in self.joining.joins.ops:
            return
        if self.joining.joins.kind is not Join.ATOMIC:
            self.joining.lower(op)

    def _lower_store(self, op: loop.StoreOp) -> None:
        """
        Lower a store of blocks that join: as an atomic update if they join its value atomically,
        else as a store by all blocks or one.
        """
        joining = self.joining
        assert joining is not None
        is_atomic = joining.joins.kind is Join.ATOMIC
        if is_atomic and any(op.value in each.results for each in joining.joins.ops):
            joining.update(op)
        else:
            joining.store(op)

    def _lower_stage(self, op: tile.StageOp) -> None:
        """
        Fill a slab of one slot; a slab with a ring has been filled by the pipeline of its loop.
        """
        if op in self.loops.in_rings:
            return
        slab = self.emit.value(kernel.SharedOp(memref_type(op.slab)), op.slab.name_hint)
        self.values.set(op.slab, slab)
        if self.emit.loops:
            self.emit.op(kernel.BarrierOp())
        self.staging.fill(op, slab)
        self.emit.op(kernel.BarrierOp())


def _empty_function(source: loop.KernelOp, launch: tile.LaunchOp) -> kernel.FuncOp:
    """Return the function of a launch with an empty body."""
    function = kernel.FuncOp(
        source.sym_name.data,
        Region(Block(arg_types=source.body.block.arg_types)),
        len(source.outputs),
        grid=launch.num_blocks,
        block=launch.num_threads,
        min_blocks=None if launch.min_blocks is None else launch.min_blocks.value.data,
    )
    function.location = source.location
    function.schedule = source.schedule
    function.set_facts(source.facts)
    return function


def _joins_of(source: loop.KernelOp, launch: tile.LaunchOp) -> BlockJoins | None:
    """
    Return how the blocks of a launch join, or None if they do not; move the combines of each group
    together. Raise an error for `join(workspace)`.
    """
    joins = block_joins(launch)
    if joins is None:
        return None
    if joins.kind is Join.WORKSPACE:
        reason = "join(workspace) takes two kernels; run split-joins first"
        raise refused(joins.groups[0].ops[0], f"cannot lower @{source.sym_name.data}: {reason}")
    for group in joins.groups:
        group.move_together()
    return joins


def _is_used_outside(value: SSAValue, ops: Sequence[Operation]) -> bool:
    return any(use.operation not in ops for use in value.uses)


class _Shares:
    """
    Lowering of a launch's shares: the first of the threads that hold the same value stores it, then
    all threads wait.

        %ms = tile.share %max at [%vm * 8 + %tm] : memref<32xf32, 3 : i64>

    becomes, where threads along `%tn` hold the same value,

        %ms = kernel.shared : memref<32xf32, 3 : i64>
        scf.if %first {                                     // where %tn is 0
          kernel.unroll %vm in 4 {
            loop.store %max, %ms[%vm * 8 + %tm] : memref<32xf32, 3 : i64>
          }
        }
        kernel.barrier
    """

    def __init__(
        self, values: ThreadValues, emitter: Emitter, thread: SSAValue, axes: Sequence[Axis]
    ):
        self.values, self.emit, self.thread, self.axes = values, emitter, thread, axes

    def lower(self, op: tile.ShareOp) -> None:
        """Fill the slab, which all threads may read afterwards."""
        slab = self.emit.value(kernel.SharedOp(memref_type(op.slab)), op.slab.name_hint)
        self.values.set(op.slab, slab)
        if self.emit.loops:  # other threads may still read values of the previous step
            self.emit.op(kernel.BarrierOp())
        registers = self.values.registers
        axes = registers.ordered(registers.of(op.operands))
        with self.emit.guarded(self._first(op.indices)), self.values.nest(axes):
            substitution = self.values.substitution(op.indices)
            place = substitution.access(op.map.data.results, op.indices)
            self.emit.op(loop.StoreOp(self.values.at(op.value), slab, place))
        self.emit.op(kernel.BarrierOp())

    def _first(self, named: Sequence[SSAValue]) -> Access:
        """
        Return the mask of the thread that is first along all thread axes except the `named` ones.
        """
        parts = delinearize(AffineExpr.dimension(0), [axis.extent for axis in self.axes])
        axes = zip(self.axes, parts, strict=True)
        return [part * -1 for axis, part in axes if axis.value not in named], [self.thread]
