# SPDX-License-Identifier: Apache-2.0
"""
Lowering of a launch's loops for one thread: reductions, ordered loops and scans.

    %p = loop.reduce %k in 4 with add { ... loop.yield %0 where [99 - %k] : f32 } : f32

becomes

    %p = scf.for %k = ... iter_args(%acc = %zero) { ... arith.select ... arith.addf ... }

Results that depend on register axes are joined in register arrays instead, and are not carried by
the loop. Stages with rings are filled by the pipelines of their loop. Files for pipelines, tensor
cores and online softmaxes are loaded for the first loop with one.
"""

from collections.abc import Callable, Container, Sequence
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING

from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Access
from tilewright.dialects.monoid import MonoidAttr
from tilewright.passes.facts.nest import chunk_of, softmax_around, whole_of
from tilewright.passes.kernel.emitter import Emitter
from tilewright.passes.kernel.phase_comments import Commenting
from tilewright.passes.kernel.staging import Staging
from tilewright.passes.kernel.thread_values import ThreadValues

if TYPE_CHECKING:
    from tilewright.passes.kernel.pipeline import Pipeline
    from tilewright.passes.kernel.softmax_reduction import SoftmaxReductions

_ZERO = AffineExpr.constant(0)


class Loops:
    """Lowering of the loops of a launch, and of the yields and prefixes in their bodies."""

    def __init__(
        self,
        values: ThreadValues,
        emitter: Emitter,
        comments: Commenting,
        staging: Staging,
        lower_block: Callable[[Block, Container[Operation]], None],
    ):
        self.values, self.emit, self.comments, self.staging = values, emitter, comments, staging
        self.in_rings = set[tile.StageOp]()
        """Stages that a pipeline fills."""
        self._lower_block = lower_block

    @cached_property
    def softmax(self) -> "SoftmaxReductions":
        """Lowering of the steps of reductions with `softmax`."""
        from tilewright.passes.kernel.softmax_reduction import SoftmaxReductions

        return SoftmaxReductions(self.values, self.emit)

    def lower_reduce(self, op: loop.ReduceOp) -> None:
        """
        Lower a reduction to a loop that joins the values of its steps; a single step needs no loop.
        """
        if op.has_one_step:
            self.comments.above(op)
            self._lower_single_step(op)
            return
        if op.instruction is not None:
            self._lower_matrices(op)
            return
        if not (staged := _stages_in_rings(op)):  # fills of rings come first, with their comment
            self.comments.above(op)
        start = self._start_of(op)
        first = self.emit.first_step(self._bound(op.start))
        pipelines = self._pipelines(op, staged, first) if staged else ()
        self.in_rings.update(staged)
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
        self.softmax.finish(op)

    def _lower_matrices(self, op: loop.ReduceOp) -> None:
        """Lower a reduction whose steps tensor cores multiply and add."""
        from tilewright.passes.kernel.group_reduction import GroupReductions
        from tilewright.passes.kernel.matrix_reduction import MatrixReductions

        self.comments.above(op)
        self._start_of(op)
        assert op.instruction is not None
        if op.instruction.is_grouped:
            GroupReductions(self.values, self.emit).lower(op)
            return
        MatrixReductions(self.values, self.emit, self.staging.thread).lower(op)

    def _pipelines(
        self, op: loop.ReduceOp, stages: Sequence[tile.StageOp], first: SSAValue | None
    ) -> "Sequence[Pipeline]":
        """Return the pipelines that fill the rings of `stages`, which are in the loop's body."""
        from tilewright.passes.kernel.pipeline import pipelines_of

        return pipelines_of(op, stages, first, self.values, self.emit, self.staging)

    def _start_of(self, op: loop.ReduceOp) -> list[SSAValue]:
        """
        Return the values that the loop carries into its first step. A chunk starts from the values
        of its whole reduction.
        """
        if (totals := self._totals_of(op)) is None:
            return self._start(op.results, op.monoid)
        for result, total in zip(op.results, totals, strict=True):
            if self._is_array(result):
                self.values.keep_with([result], [total])
        return [self.values.at(total) for total in totals if not self._is_array(total)]

    def _totals_of(self, op: loop.ReduceOp) -> Sequence[SSAValue] | None:
        """
        Return the results of another reduction into which the steps of `op` join, or None if they
        join into results of their own.
        """
        if (whole := whole_of(op)) is not None:
            return whole.results
        total = self.softmax.adds_to(op) if softmax_around(op) else None
        return None if total is None else [total]

    def _lower_step(
        self, op: loop.ReduceOp, index: SSAValue, pipelines: "Sequence[Pipeline]"
    ) -> None:
        for pipeline in pipelines:
            pipeline.before_step(index)
        self._lower_block(op.body.block, ())
        for pipeline in pipelines:
            pipeline.after_step(index)

    def _bound(self, bound: Access | None) -> Access | None:
        """
        Return the bound of a loop's steps over the values of the thread, which replace the values
        of the launch.
        """
        return bound and self.values.substitution(bound[1]).access(*bound)

    def _lower_single_step(self, op: loop.ReduceOp) -> None:
        """
        Lower a reduction of one step without a loop. It may join into the values of another
        reduction (`_totals_of`). A single step of `softmax` or `moments` joins into the identity,
        which makes NaN of the sums of infinity.
        """
        self.values.set_index(op.axis, _ZERO)
        self.values.keep(op.results)
        if self._totals_of(op) is not None or op.monoid.data.changes_infinity:
            carried = [result for result in op.results if not self._is_array(result)]
            self._carry(carried, self._start_of(op))
        self._lower_block(op.body.block, ())
        self.softmax.finish(op)

    def lower_yield(self, op: loop.YieldOp) -> None:
        """
        Lower the end of a reduction's step: join the yielded values into its results. Yields of
        other bodies emit nothing.
        """
        reduction = op.parent_op()
        if not isinstance(reduction, loop.ReduceOp):
            return
        if chunk_of(reduction) is not None:
            pairs = zip(reduction.results, op.values, strict=True)
            carried = [(result, value) for result, value in pairs if not self._is_array(result)]
            for result, value in carried:
                self.values.define([result], [self.values.at(value)])
            return
        if reduction.is_softmax:
            self.softmax.join(reduction)
            return
        values = [self.values.at(value) for value in op.values]
        values = self.emit.masked(values, self.values.mask(op), reduction.monoid)
        joins = self._totals_of(reduction) is not None or reduction.monoid.data.changes_infinity
        if reduction.has_one_step and not joins:
            self.values.define(reduction.results, values)
            return
        self._join(reduction.results, reduction.monoid, values)

    def is_joined_already(self, op: Operation) -> bool:
        """
        True if `op` yields a chunk whose values have all been joined into the arrays of the whole
        reduction.
        """
        reduction = op.parent_op()
        if not isinstance(op, loop.YieldOp) or not isinstance(reduction, loop.ReduceOp):
            return False
        return chunk_of(reduction) is not None and all(map(self._is_array, reduction.results))

    def lower_for(self, op: loop.ForOp, bound: Sequence[SSAValue] = ()) -> None:
        """
        Lower an ordered loop to nested loops, outermost axis first; axes in `bound` have their
        loops.
        """
        if len(bound) == len(op.body.block.args):
            self._lower_block(op.body.block, ())
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
        """Lower a scan to a loop that carries the values joined so far for each prefix."""
        start = [v for prefix in op.prefixes for v in self._start(prefix.results, prefix.monoid)]
        results = [r for prefix in op.prefixes for r in prefix.results if not self._is_array(r)]
        # An exclusive prefix is read before its step is joined.
        last = [prefix for prefix in op.prefixes if prefix.is_exclusive]
        others = [each for each in op.body.block.ops if each not in last]

        def step(axis: SSAValue, carried: Sequence[SSAValue]) -> list[SSAValue]:
            with self.values.scope():
                self.values.set(op.axis, axis)
                self._carry(results, carried)
                self._lower_block(op.body.block, last)
                if last:
                    self._lower_block(op.body.block, others)
                return [self.values.at(result) for result in results]

        self.emit.loop(op.axis_extents()[0], start, step, op.axis.name_hint)

    def lower_prefix(self, op: loop.PrefixOp) -> None:
        """Join the values of this step into the results of a prefix."""
        self._join(op.results, op.monoid, [self.values.at(value) for value in op.values])

    def _join(
        self, results: Sequence[SSAValue], monoid: MonoidAttr, values: Sequence[SSAValue]
    ) -> None:
        """Join `values` into `results` by `monoid`."""
        before = [self.values.at(result) for result in results]
        self.values.define(results, self.emit.join(monoid, before, values))

    def _start(self, results: Sequence[SSAValue], monoid: MonoidAttr) -> list[SSAValue]:
        """
        Initialise `results` with the identity of `monoid`. Results that depend on register axes are
        kept in register arrays, which are filled here. Return the initial values of the others,
        which a loop must carry.
        """
        registers = self.values.registers
        identities = monoid.identities([result.type for result in results])
        pairs = zip(results, identities, strict=True)
        carried: list[SSAValue] = []
        for axes, group in groupby(pairs, lambda pair: registers.ordered(registers.of(pair[:1]))):
            same, numbers = zip(*group, strict=True)
            if not axes:
                carried += map(self.emit.number, numbers)
                continue
            self.values.keep(same)
            with self.values.nest(axes):
                self.values.define(same, [*map(self.emit.number, numbers)])
        return carried

    def _carry(self, results: Sequence[SSAValue], carried: Sequence[SSAValue]) -> None:
        """Bind `results` to the values that a loop carries into its step."""
        for result, value in zip(results, carried, strict=True):
            value.name_hint = result.name_hint
            self.values.set(result, value)

    def _is_array(self, value: SSAValue) -> bool:
        return bool(self.values.registers.of([value]))


def _stages_in_rings(op: loop.ReduceOp) -> list[tile.StageOp]:
    """Return the stages in a loop's body that a pipeline fills."""
    stages = (s for s in op.body.block.ops if isinstance(s, tile.StageOp))
    return [stage for stage in stages if stage.ring is not None]
