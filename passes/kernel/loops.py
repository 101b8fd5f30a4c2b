# SPDX-License-Identifier: Apache-2.0
"""
The loops of a launch, as one thread does them: reductions, ordered loops and scans.

    %p = loop.reduce %k in 4 with add { ... loop.yield %0 where [99 - %k] : f32 } : f32

becomes

    %p = scf.for %k = ... iter_args(%acc = %zero) { ... arith.select ... arith.addf ... }

What depends on register axes is joined in arrays instead, which a loop has no need to carry. The
stages in a loop that have rings are filled by its pipelines.
"""

from collections.abc import Callable, Sequence

from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Access
from tilewright.dialects.monoid import MonoidAttr
from tilewright.passes.facts.nest import chunk_of, whole_of
from tilewright.passes.kernel.commenting import Commenting
from tilewright.passes.kernel.emitter import Emitter
from tilewright.passes.kernel.pipeline import Pipeline, pipelines_of, stages_in_rings
from tilewright.passes.kernel.staging import Staging
from tilewright.passes.kernel.thread_values import ThreadValues

_ZERO = AffineExpr.constant(0)


class Loops:
    """Lowers the loops of a launch, and what ends or joins in each step of one."""

    def __init__(
        self,
        values: ThreadValues,
        emitter: Emitter,
        comments: Commenting,
        staging: Staging,
        lower_block: Callable[[Block], None],
    ):
        self.values, self.emit, self.comments, self.staging = values, emitter, comments, staging
        self.in_rings = set[tile.StageOp]()
        """The stages that a pipeline fills."""
        self._lower_block = lower_block

    def lower_reduce(self, op: loop.ReduceOp) -> None:
        """A loop whose steps are joined; none at all for a single step."""
        if op.has_one_step:
            self.comments.above(op)
            self._lower_single_step(op)
            return
        if not stages_in_rings(op):  # else what fills the rings comes first, with its own comment
            self.comments.above(op)
        start = self._start_of(op)
        first = self.emit.first_step(self._bound(op.start))
        pipelines = pipelines_of(op, first, self.values, self.emit, self.staging)
        self.in_rings.update(stage for pipeline in pipelines for stage in pipeline.stages)
        for pipeline in pipelines:
            pipeline.begin()
        self.comments.above(op)
        carried = [result for result in op.results if not self._is_array(result)]

        def step(index: SSAValue, before: Sequence[SSAValue]) -> list[SSAValue]:
            with self.values.scope():
                self.values.set(op.axis, self.emit.after(first, index, op.axis.name_hint))
                self._carry(carried, before)
                self._lower_step(op, index, pipelines)
                return [self.values.at(result) for result in carried]

        results = self.emit.loop(
            op.axis_extents()[0],
            start,
            step,
            op.axis.name_hint if first is None else "step",
            first=first,
            below=self._bound(op.below),
            unroll=op.is_unrolled,
        )
        self.values.define(carried, results)

    def _start_of(self, op: loop.ReduceOp) -> list[SSAValue]:
        """What the loop carries into its first step: a chunk goes on from what its whole has."""
        whole = whole_of(op)
        if whole is None:
            return self._start(op.results, op.monoid)
        if self.values.registers.of(op.results):
            self.values.keep_with(op.results, whole.results)
            return []
        return [self.values.at(result) for result in whole.results]

    def _lower_step(
        self, op: loop.ReduceOp, index: SSAValue, pipelines: Sequence[Pipeline]
    ) -> None:
        for pipeline in pipelines:
            pipeline.before_step(index)
        self._lower_block(op.body.block)
        for pipeline in pipelines:
            pipeline.after_step(index)

    def _bound(self, bound: Access | None) -> Access | None:
        """What bounds the steps, of the values that stand for its operands."""
        return bound and self.values.substitution(bound[1]).access(*bound)

    def _lower_single_step(self, op: loop.ReduceOp) -> None:
        """No loop: unless it goes on from a whole, the result is what the step yields."""
        self.values.set_index(op.axis, _ZERO)
        self.values.keep(op.results)
        whole = whole_of(op)
        if whole is not None and self.values.registers.of(op.results):
            self.values.keep_with(op.results, whole.results)
        elif whole is not None:
            self._carry(op.results, [self.values.at(result) for result in whole.results])
        self._lower_block(op.body.block)

    def lower_yield(self, op: loop.YieldOp) -> None:
        """The end of a step of a reduction; other bodies yield to what reads them."""
        reduction = op.parent_op()
        if not isinstance(reduction, loop.ReduceOp):
            return
        if chunk_of(reduction) is not None:
            self.values.define(reduction.results, [self.values.at(v) for v in op.values])
            return
        values = [self.values.at(value) for value in op.values]
        values = self.emit.masked(values, self.values.mask(op), reduction.monoid)
        if reduction.has_one_step and whole_of(reduction) is None:
            self.values.define(reduction.results, values)
            return
        self._join(reduction.results, reduction.monoid, values)

    def is_joined_already(self, op: Operation) -> bool:
        """True if `op` yields a chunk, which has been joined into the arrays of the whole."""
        reduction = op.parent_op()
        if not isinstance(op, loop.YieldOp) or not isinstance(reduction, loop.ReduceOp):
            return False
        return chunk_of(reduction) is not None and bool(self.values.registers.of(reduction.results))

    def lower_for(self, op: loop.ForOp, bound: Sequence[SSAValue] = ()) -> None:
        """Nested loops, outermost axis first; `bound` are the axes that have their loop."""
        if len(bound) == len(op.body.block.args):
            self._lower_block(op.body.block)
            return
        axis = op.body.block.args[len(bound)]
        extent = op.axis_extents()[len(bound)]
        if extent == 1:
            self.values.set_index(axis, _ZERO)
            self.lower_for(op, [*bound, axis])
            return

        def step(index: SSAValue, _: Sequence[SSAValue]) -> Sequence[SSAValue]:
            with self.values.scope():
                self.values.set(axis, index)
                self.lower_for(op, [*bound, axis])
            return ()

        self.emit.loop(extent, (), step, axis.name_hint)

    def lower_scan(self, op: loop.ScanOp) -> None:
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

    def lower_prefix(self, op: loop.PrefixOp) -> None:
        """What the steps so far have joined takes in this one."""
        self._join(op.results, op.monoid, [self.values.at(value) for value in op.values])

    def _join(
        self, results: Sequence[SSAValue], monoid: MonoidAttr, values: Sequence[SSAValue]
    ) -> None:
        """`results` take in `values`."""
        before = [self.values.at(result) for result in results]
        self.values.define(results, self.emit.join(monoid, before, values))

    def _start(self, results: Sequence[SSAValue], monoid: MonoidAttr) -> list[SSAValue]:
        """`results` begin as the identity; those that a loop is to carry from step to step."""
        registers = self.values.registers
        axes = registers.ordered(registers.of(results))
        if not axes:
            return self.emit.identities(monoid, results)
        self.values.keep(results)
        with self.values.nest(axes):
            self.values.define(results, self.emit.identities(monoid, results))
        return []

    def _carry(self, results: Sequence[SSAValue], carried: Sequence[SSAValue]) -> None:
        """In a step of a loop `results` are what it carries."""
        for result, value in zip(results, carried, strict=True):
            value.name_hint = result.name_hint
            self.values.set(result, value)

    def _is_array(self, value: SSAValue) -> bool:
        return bool(self.values.registers.of([value]))
