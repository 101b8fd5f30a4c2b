# SPDX-License-Identifier: Apache-2.0
"""
Tile IR to Kernel IR: what a launch does becomes what one thread does.

    tile.launch (%rb = block 8 row, %t = thread 32 k) {
      %p = loop.reduce %k in 4 with add { ... loop.yield %0 where [99 - %k * 32 - %t] : f32 } : f32
      %s = tile.combine %p across %t with add : f32
      ...

becomes

    kernel.func grid 8 block 32 @sum(...) -> (...) {
      %rb = kernel.block_id
      %t = kernel.thread_id
      %p = scf.for %k = ... iter_args(%acc = %zero) { ... arith.select ... arith.addf ... }
      %1 = kernel.shuffle xor %p, 16 width 32 : f32
      ...

Block and thread axes become ids and indices made of them. What depends on register axes is done in
unrolled nests over them, and kept in arrays of registers as far as others need it. A mask stays on
its load or store; where it guards a value it becomes a select.
"""

from collections.abc import Container, Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from tilewright.dialects import kernel, loop, tile
from tilewright.dialects.kernel_like import MAX_THREADS
from tilewright.dialects.monoid import MonoidAttr
from tilewright.dialects.tile import Join
from tilewright.dialects.tile_axes import Axis, Level
from tilewright.dialects.types import memref_type
from tilewright.passes.kernel.alignment import require_aligned_arguments
from tilewright.passes.kernel.block_joins import block_joins
from tilewright.passes.kernel.chunks import chunk_of, whole_of
from tilewright.passes.kernel.combine import Combining
from tilewright.passes.kernel.commenting import Commenting, drop_only_comment
from tilewright.passes.kernel.emitter import Emitter
from tilewright.passes.kernel.join_blocks import JoiningBlocks
from tilewright.passes.kernel.pipeline import pipelines_of, stages_in_rings
from tilewright.passes.kernel.scratch import pass_scratch
from tilewright.passes.kernel.staging import Staging
from tilewright.passes.kernel.thread_values import ThreadValues
from tilewright.passes.trace import Rule, rewriting

RULE = Rule("k", 1, "convert_tile_to_kernel")

_MAX_GRID = 2**31 - 1
"""Blocks in a grid along x (CUDA C++ Programming Guide, technical specifications)."""

_ZERO = AffineExpr.constant(0)


class _Lowering:
    """One walk over a launch."""

    def __init__(self, source: loop.KernelOp, launch: tile.LaunchOp):
        self.source, self.launch = source, launch
        self.body = Block(arg_types=source.body.block.arg_types)
        # the function exists before its body: ids take their ranges from it
        self.function = kernel.FuncOp(
            source.sym_name.data,
            Region(self.body),
            len(source.outputs),
            grid=launch.num_blocks,
            block=launch.num_threads,
            min_blocks=None if launch.min_blocks is None else launch.min_blocks.value.data,
        )
        self.function.location = source.location
        self.function.schedule = source.schedule
        self.function.set_facts(source.facts)
        self.joins = block_joins(launch)
        if self.joins is not None and self.joins.kind is Join.WORKSPACE:
            raise PassFailedException(
                f"convert-tile-to-kernel: cannot lower @{source.sym_name.data}: join(workspace) "
                "takes two kernels; run split-joins first"
            )
        if self.joins is not None:
            for group in self.joins.groups:
                group.stand_together()
        if self.joins is not None and self.joins.kind is Join.CLUSTER:
            self.function.cluster = IntegerAttr(self.joins.blocks, i64)
        self.emit = Emitter(self.body)
        self.values = ThreadValues(launch, self.emit)
        self.registers = self.values.registers
        self.in_rings = set[tile.StageOp]()
        self.comments = Commenting(self.emit)

    def run(self) -> kernel.FuncOp:
        """The kernel function that does what the launch does."""
        with self.emit.at(self.launch):
            self._run()
        require_aligned_arguments(self.function)
        drop_only_comment(self.function)
        return self.function

    def _run(self) -> None:
        for old, new in zip(self.source.body.block.args, self.body.args, strict=True):
            new.name_hint = old.name_hint
            self.values.set(old, new)
        block = self.emit.value(kernel.BlockIdOp(), "block")
        self.thread = self.emit.value(kernel.ThreadIdOp(), "thread")
        joined: Sequence[Axis] = [] if self.joins is None else self.joins.axes
        apart = [axis for axis in self.launch.axes_at(Level.BLOCK) if axis not in joined]
        self.values.bind([*apart, *joined], block)  # those that join lie side by side
        self.values.bind(self.launch.thread_axes(), self.thread)
        self.combining = Combining(self.values, self.emit, self.thread, self.launch.thread_axes())
        self.staging = Staging(
            self.values, self.emit, self.thread, self.launch.num_threads, self._lower_block
        )
        self.joining = None
        if self.joins is not None:
            threads, ids = self.launch.thread_axes(), (block, self.thread)
            self.joining = JoiningBlocks(
                self.joins, self.function, self.values, self.emit, ids, threads
            )
        for op in self.launch.scalars():
            self._lower(op)
        self._lower_block(self.launch.body.block)
        if self.joining is not None:
            self.joining.rest.close()

    def _lower_block(self, block: Block, known: Container[Operation] = ()) -> None:
        """All ops of a block, but those whose results are `known` already."""
        self.comments.enter(block, elsewhere=self.in_rings)
        for axes, ops in self.registers.runs(block):
            ops = [op for op in ops if op not in known and not self._is_joined_already(op)]
            if not ops:
                continue
            for op in ops:
                if not isinstance(op, loop.ReduceOp):
                    self.comments.above(op)
            if axes:
                self.values.keep([r for op in ops for r in op.results if _is_used_outside(r, ops)])
            with self.values.nest(axes):
                for op in ops:
                    with self.emit.at(op):
                        self._lower(op)

    def _lower(self, op: Operation) -> None:
        match op:
            case loop.ReduceOp():
                self._lower_reduce(op)
            case loop.ForOp():
                self._lower_for(op, [])
            case loop.ScanOp():
                self._lower_scan(op)
            case loop.PrefixOp():
                self._join(op.results, op.monoid, [self.values.at(value) for value in op.values])
            case loop.YieldOp():
                self._lower_yield(op)
            case tile.CombineOp():
                self._lower_combine(op)
            case tile.StageOp():
                self._lower_stage(op)
            case loop.StoreOp() if self.joining is not None:
                self._lower_store(op, self.joining)
            case _:
                self._copy(op)

    def _copy(self, op: Operation) -> None:
        if op.regions:
            raise PassFailedException(f"convert-tile-to-kernel: cannot lower '{op.name}'")
        self.values.define(op.results, self.emit.op(self.values.clone(op)).results)

    def _join(
        self, results: Sequence[SSAValue], monoid: MonoidAttr, values: Sequence[SSAValue]
    ) -> None:
        """`results` take in `values`."""
        before = [self.values.at(result) for result in results]
        self.values.define(results, self.emit.join(monoid, before, values))

    def _start(self, results: Sequence[SSAValue], monoid: MonoidAttr) -> list[SSAValue]:
        """`results` begin as the identity; those that a loop is to carry from step to step."""
        axes = self.registers.ordered(self.registers.of(results))
        if not axes:
            return self.emit.identities(monoid, results)
        self.values.keep(results)
        with self.values.nest(axes):
            self.values.define(results, self.emit.identities(monoid, results))
        return []

    def _carry(self, results: Sequence[SSAValue], carried: Sequence[SSAValue]) -> None:
        """In a step of a loop `results` are what it carries."""
        for result, value in zip(results, carried, strict=False):
            value.name_hint = result.name_hint
            self.values.set(result, value)

    def _lower_reduce(self, op: loop.ReduceOp) -> None:
        if op.has_one_step:
            self.comments.above(op)
            self._lower_single_step(op)
            return
        if not stages_in_rings(op):
            self.comments.above(op)
        in_arrays = bool(self.registers.of(op.results))
        whole = whole_of(op)
        if whole is None:
            start = self._start(op.results, op.monoid)
        elif in_arrays:
            self.values.keep_with(op.results, whole.results)
            start = []
        else:
            start = [self.values.at(result) for result in whole.results]

        pipelines = pipelines_of(op, self.values, self.emit, self.staging)
        self.in_rings.update(stage for pipeline in pipelines for stage in pipeline.stages)
        for pipeline in pipelines:
            pipeline.begin()
        self.comments.above(op)

        def step(index: SSAValue, carried: Sequence[SSAValue]) -> list[SSAValue]:
            with self.values.scope():
                self.values.set(op.axis, index)
                self._carry(op.results, carried)
                for pipeline in pipelines:
                    pipeline.before_step(index)
                self._lower_block(op.body.block)
                for pipeline in pipelines:
                    pipeline.after_step(index)
                return [] if in_arrays else [self.values.at(result) for result in op.results]

        below = None
        if op.bound is not None:
            below = self.values.substitution(op.bound_operands).access(
                op.bound.data.results, op.bound_operands
            )
        extent, hint = op.axis_extents()[0], op.axis.name_hint
        results = self.emit.loop(extent, start, step, hint, below=below, unroll=op.is_unrolled)
        if not in_arrays:
            self.values.define(op.results, results)

    def _lower_single_step(self, op: loop.ReduceOp) -> None:
        """No loop: unless it goes on from a whole, the result is what the step yields."""
        self.values.set_index(op.axis, _ZERO)
        self.values.keep(op.results)
        whole = whole_of(op)
        if whole is not None and self.registers.of(op.results):
            self.values.keep_with(op.results, whole.results)
        elif whole is not None:
            self._carry(op.results, [self.values.at(result) for result in whole.results])
        self._lower_block(op.body.block)

    def _lower_yield(self, op: loop.YieldOp) -> None:
        reduction = op.parent_op()
        if not isinstance(reduction, loop.ReduceOp):
            return
        if chunk_of(reduction) is not None:
            self.values.define(reduction.results, [self.values.at(v) for v in op.values])
            return
        values = self._yielded(op, reduction.monoid)
        if reduction.has_one_step and whole_of(reduction) is None:
            self.values.define(reduction.results, values)
            return
        self._join(reduction.results, reduction.monoid, values)

    def _is_joined_already(self, op: Operation) -> bool:
        """Whether `op` yields a chunk, which has been joined into the arrays of the whole."""
        reduction = op.parent_op()
        if not isinstance(op, loop.YieldOp) or not isinstance(reduction, loop.ReduceOp):
            return False
        return chunk_of(reduction) is not None and bool(self.registers.of(reduction.results))

    def _yielded(self, op: loop.YieldOp, monoid: MonoidAttr) -> list[SSAValue]:
        values = [self.values.at(value) for value in op.values]
        return self.emit.masked(values, self.values.mask(op), monoid)

    def _lower_for(self, op: loop.ForOp, bound: Sequence[SSAValue]) -> None:
        """Nested loops, outermost axis first; `bound` are the axes that have their loop."""
        if len(bound) == len(op.body.block.args):
            self._lower_block(op.body.block)
            return
        axis = op.body.block.args[len(bound)]
        extent = op.axis_extents()[len(bound)]
        if extent == 1:
            self.values.set_index(axis, _ZERO)
            self._lower_for(op, [*bound, axis])
            return

        def step(index: SSAValue, _: Sequence[SSAValue]) -> Sequence[SSAValue]:
            with self.values.scope():
                self.values.set(axis, index)
                self._lower_for(op, [*bound, axis])
            return ()

        self.emit.loop(extent, (), step, axis.name_hint)

    def _lower_scan(self, op: loop.ScanOp) -> None:
        """A loop that carries what each prefix has joined so far."""
        start = [v for prefix in op.prefixes for v in self._start(prefix.results, prefix.monoid)]
        results = [r for prefix in op.prefixes for r in prefix.results if not self._is_array(r)]

        def step(axis: SSAValue, carried: Sequence[SSAValue]) -> list[SSAValue]:
            with self.values.scope():
                self.values.set(op.axis, axis)
                self._carry(results, carried)
                self._lower_block(op.body.block)
                return [self.values.at(result) for result in results]

        self.emit.loop(op.axis_extents()[0], start, step, op.axis.name_hint)

    def _is_array(self, value: SSAValue) -> bool:
        return bool(self.registers.of([value]))

    def _lower_combine(self, op: tile.CombineOp) -> None:
        self.combining.lower(op)
        if self.joining is None or op not in self.joining.joins.ops:
            return
        if self.joining.joins.kind is not Join.ATOMIC:
            self.joining.lower(op)

    def _lower_store(self, op: loop.StoreOp, joining: JoiningBlocks) -> None:
        """By all blocks, or by one of those that join."""
        is_atomic = joining.joins.kind is Join.ATOMIC
        if is_atomic and any(op.value in each.results for each in joining.joins.ops):
            joining.update(op)
        else:
            joining.store(op)

    def _lower_stage(self, op: tile.StageOp) -> None:
        """A slab of one slot; one with a ring has been filled by the pipeline of its loop."""
        if op in self.in_rings:
            return
        slab = self.emit.value(kernel.SharedOp(memref_type(op.slab)), op.slab.name_hint)
        self.values.set(op.slab, slab)
        if self.emit.loops:
            self.emit.op(kernel.BarrierOp())
        self.staging.fill(op, slab)
        self.emit.op(kernel.BarrierOp())


def _is_used_outside(value: SSAValue, ops: Sequence[Operation]) -> bool:
    return any(use.operation not in ops for use in value.uses)


def legal(source: loop.KernelOp) -> str | None:
    """Why the kernel cannot be lowered, or None."""
    launch = source.body.block.last_op
    if not isinstance(launch, tile.LaunchOp):
        return "it is not one tile.launch; run to-tile first"
    if launch.num_blocks > _MAX_GRID:
        return f"{launch.num_blocks} blocks; a grid has at most {_MAX_GRID}"
    if launch.num_threads > MAX_THREADS:
        return (
            f"{launch.num_threads} threads a block; a block has at most {MAX_THREADS}: give "
            "each several elements (register-tile)"
        )
    return None


class ConvertTileToKernelPass(ModulePass):
    """Turn every launch into a kernel function."""

    name = "convert-tile-to-kernel"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Each kernel of the module."""
        for source in [k for k in op.ops if isinstance(k, loop.KernelOp)]:
            if (reason := legal(source)) is not None:
                raise PassFailedException(
                    f"convert-tile-to-kernel: cannot lower @{source.sym_name.data}: {reason}"
                )
            launch = source.body.block.last_op
            assert isinstance(launch, tile.LaunchOp)
            with rewriting(RULE, source, whole_module=True):
                function = _Lowering(source, launch).run()
                pass_scratch(op, function)
                op.body.block.insert_op_before(function, source)
                source.detach()
                source.erase()
