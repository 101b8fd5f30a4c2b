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

Block and thread axes become ids and indices made of them, a register axis one copy of each op for
each of its steps. A mask stays on its load or store; where it guards a value it becomes a select.
"""

from collections.abc import Callable, Sequence
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from tilewright.dialects import kernel, loop, tile
from tilewright.dialects.index import delinearize
from tilewright.dialects.monoid import Monoid, MonoidAttr
from tilewright.dialects.tile_axes import Level
from tilewright.dialects.types import memref_type
from tilewright.passes.kernel.combine import ThreadCombine
from tilewright.passes.kernel.emitter import Emitter
from tilewright.passes.kernel.register_axes import Point
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
        )
        self.function.location = source.location
        self.function.set_facts(source.facts)
        self.emit = Emitter(self.body)
        self.values = ThreadValues(launch)
        self.registers = self.values.registers
        self.accumulators: dict[loop.ReduceOp, Sequence[SSAValue]] = {}
        """What a chunk goes on from: its reduction's values so far."""
        self.running: dict[loop.PrefixOp, Sequence[Sequence[SSAValue]]] = {}
        """What each prefix has joined in the steps before, at each of its points."""

    def run(self) -> kernel.FuncOp:
        """The kernel function that does what the launch does."""
        for old, new in zip(self.source.body.block.args, self.body.args, strict=True):
            new.name_hint = old.name_hint
            self.values.set(old, new)
        block = self.emit.value(kernel.BlockIdOp(), "block")
        self.thread = self.emit.value(kernel.ThreadIdOp(), "thread")
        self.values.bind(self.launch.axes_at(Level.BLOCK), block, self.emit)
        self.values.bind(self.launch.thread_axes(), self.thread, self.emit)
        self.threads = ThreadCombine(self.emit, self.thread, self.launch.thread_axes())
        for op in self.launch.scalars():
            self._lower(op)
        self._lower_block(self.launch.body.block)
        return self.function

    def _lower_block(self, block: Block) -> None:
        for op in block.ops:
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
                self._lower_prefix(op)
            case tile.CombineOp():
                self._lower_combine(op)
            case tile.StageOp():
                self._lower_stage(op)
            case loop.YieldOp():
                pass
            case _:
                self._copy(op)

    def _copy(self, op: Operation) -> None:
        """One copy for each point of the register axes that the op depends on."""
        if op.regions:
            raise PassFailedException(f"convert-tile-to-kernel: cannot lower '{op.name}'")
        for point in self.registers.points(self.registers.of(op.operands)):
            clone = self.emit.op(self.values.substitution(point, op.operands).clone(op))
            self.values.define(op.results, point, clone.results)

    def _lower_reduce(self, op: loop.ReduceOp) -> None:
        points = [*self.registers.points(self.registers.of(op.yield_op.operands))]

        def yielded() -> list[SSAValue]:
            self._lower_block(op.body.block)
            return [v for point in points for v in self._yielded(op.yield_op, op.monoid, point)]

        if op.axis_extents()[0] == 1:
            self.values.set_index(op.axis, _ZERO)
            results = self._joined(op, self.accumulators.pop(op, None), yielded())
        else:
            results = self._fold_loop(op, list(op.results) * len(points), yielded)
        for point, values in zip(points, _by_point(op, results), strict=True):
            self.values.define(op.results, point, values)

    def _fold_loop(
        self, op: loop.ReduceOp, like: Sequence[SSAValue], yielded: Callable[[], list[SSAValue]]
    ) -> list[SSAValue]:
        def step(axis: SSAValue, carried: Sequence[SSAValue]) -> list[SSAValue]:
            self.values.set(op.axis, axis)
            for value, named in zip(carried, like, strict=True):
                value.name_hint = named.name_hint
            if chunk is None:
                return self._joined(op, carried, yielded())
            self.accumulators[chunk] = carried
            return yielded()

        chunk = _chunk(op)
        start = self.accumulators.pop(op, None)
        if start is None:
            start = [
                v for values in _by_point(op, like) for v in self.emit.identities(op.monoid, values)
            ]
        return self.emit.loop(op.axis_extents()[0], start, step, op.axis.name_hint)

    def _joined(
        self, op: loop.ReduceOp, left: Sequence[SSAValue] | None, right: list[SSAValue]
    ) -> list[SSAValue]:
        if left is None:
            return right
        pairs = zip(_by_point(op, left), _by_point(op, right), strict=True)
        return [v for a, b in pairs for v in self.emit.join(op.monoid, a, b)]

    def _yielded(self, op: loop.YieldOp, monoid: MonoidAttr, point: Point) -> list[SSAValue]:
        values = [self.values.at(value, point) for value in op.values]
        return self.emit.masked(values, self.values.mask(op, point), monoid)

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
            self.values.set(axis, index)
            self._lower_for(op, [*bound, axis])
            return ()

        self.emit.loop(extent, (), step, axis.name_hint)

    def _lower_scan(self, op: loop.ScanOp) -> None:
        """A loop that carries what each prefix has joined so far, at each of its points."""
        prefixes = [
            (p, [*self.registers.points(self.registers.of(p.operands))]) for p in op.prefixes
        ]
        start = [
            value
            for prefix, points in prefixes
            for _ in points
            for value in self.emit.identities(prefix.monoid, prefix.values)
        ]

        def step(axis: SSAValue, carried: Sequence[SSAValue]) -> list[SSAValue]:
            self.values.set(op.axis, axis)
            rest = iter(carried)
            for prefix, points in prefixes:
                self.running[prefix] = [[next(rest) for _ in prefix.values] for _ in points]
            self._lower_block(op.body.block)
            return [
                self.values.at(result, point)
                for prefix, points in prefixes
                for point in points
                for result in prefix.results
            ]

        self.emit.loop(op.axis_extents()[0], start, step, op.axis.name_hint)

    def _lower_prefix(self, op: loop.PrefixOp) -> None:
        points = self.registers.points(self.registers.of(op.operands))
        for point, before in zip(points, self.running[op], strict=True):
            for value, result in zip(before, op.results, strict=True):
                value.name_hint = result.name_hint
            values = [self.values.at(value, point) for value in op.values]
            self.values.define(op.results, point, self.emit.join(op.monoid, before, values))

    def _lower_combine(self, op: tile.CombineOp) -> None:
        between_blocks = [
            axis
            for axis in self.launch.axes_at(Level.BLOCK)
            if axis.value in op.axes and axis.extent > 1
        ]
        if between_blocks:
            name = between_blocks[0].value.name_hint
            raise PassFailedException(
                f"convert-tile-to-kernel: tile.combine across the block axis %{name} joins "
                "different blocks; combine across thread and register axes"
            )
        registers = self.registers.of(op.axes)
        for point in self.registers.points(self.registers.of(op.operands) - registers):
            joined = self._join_registers(op, point, registers)
            results = self.threads.combine(op.monoid, joined, list(op.axes))
            self.values.define(op.results, point, results)

    def _join_registers(
        self, op: tile.CombineOp, point: Point, axes: frozenset[SSAValue]
    ) -> list[SSAValue]:
        """One of each value for the thread: its register copies joined, each masked."""
        joined: list[SSAValue] | None = None
        for step in self.registers.points(axes):
            at = {**point, **step}
            values = [self.values.at(value, at) for value in op.values]
            copies = self.emit.masked(values, self.values.mask(op, at), op.monoid)
            joined = copies if joined is None else self.emit.join(op.monoid, joined, copies)
        assert joined is not None
        return joined

    def _lower_stage(self, op: tile.StageOp) -> None:
        """Every thread computes each so-manieth element of the slab, in row-major order."""
        slab = self.emit.value(kernel.SharedOp(memref_type(op.slab)), op.slab.name_hint)
        self.values.set(op.slab, slab)
        if self.emit.depth:
            self.emit.op(kernel.BarrierOp())
        extents, threads = list(op.axis_extents()), self.launch.num_threads

        def step(index: SSAValue, _: Sequence[SSAValue]) -> Sequence[SSAValue]:
            operands = [index, self.thread]
            element = AffineExpr.dimension(0) * threads + AffineExpr.dimension(1)
            coordinates = delinearize(element, extents)
            for axis, coordinate in zip(op.body.block.args, coordinates, strict=True):
                self.values.set_index(axis, coordinate, operands)
            with self.emit.guarded(([element * -1 + (prod(extents) - 1)], operands)):
                self._lower_block(op.body.block)
                (value,) = self._yielded(op.yield_op, MonoidAttr(Monoid.ADD), {})
                self.emit.op(loop.StoreOp(value, slab, (coordinates, operands)))
            return ()

        self.emit.loop(-(-prod(extents) // threads), (), step, "e")
        self.emit.op(kernel.BarrierOp())


def _by_point(op: loop.ReduceOp, values: Sequence[SSAValue]) -> list[Sequence[SSAValue]]:
    """Values of a reduction, all of one point after all of another, apart."""
    width = len(op.results)
    return [values[start : start + width] for start in range(0, len(values), width)]


def _chunk(op: loop.ReduceOp) -> loop.ReduceOp | None:
    """The reduction that does a chunk of `op` in each step: the two need one accumulator."""
    chunk = op.yield_op.values[0].owner
    if not isinstance(chunk, loop.ReduceOp) or chunk.parent is not op.body.block:
        return None
    passed_on = chunk.results == tuple(op.yield_op.values) and op.yield_op.mask is None
    is_only_use = all(result.has_one_use() for result in chunk.results)
    return chunk if passed_on and is_only_use and chunk.monoid == op.monoid else None


def legal(source: loop.KernelOp) -> str | None:
    """Why the kernel cannot be lowered, or None."""
    launch = source.body.block.last_op
    if not isinstance(launch, tile.LaunchOp):
        return "it is not one tile.launch; run to-tile first"
    if launch.num_blocks > _MAX_GRID:
        return f"{launch.num_blocks} blocks; a grid has at most {_MAX_GRID}"
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
                op.body.block.insert_op_before(function, source)
                source.detach()
                source.erase()
