# SPDX-License-Identifier: Apache-2.0
"""
Software pipelines: the stages of a loop are filled some steps ahead of their use.

    ring_wait k           fill k is visible to every thread
    ring_acquire k + L    every thread has finished reading that slot
    fill k + L            if the loop has this step; threads load values into registers
    ring_commit k + L
    ...                   the step itself, which reads slot k mod D
    store k + L           threads store the loaded values
    ring_release k

There are no races for a lookahead L of up to D - 1 steps, where D is the depth. A wait is a
barrier: all threads have finished step k - 1, whose slot fill k - 1 + D reuses.
"""

from collections.abc import Sequence

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import kernel, loop, tile
from tilewright.dialects.axes import Access
from tilewright.dialects.index import linearize
from tilewright.dialects.kernel.ring import (
    RingAcquireOp,
    RingCommitOp,
    RingOp,
    RingReleaseOp,
    RingWaitOp,
)
from tilewright.dialects.tile import Transport
from tilewright.dialects.types import memref_of, memref_type
from tilewright.passes.facts.footprint import bytes_of
from tilewright.passes.kernel.emitter import Emitter
from tilewright.passes.kernel.phase_comments import filled, slabs
from tilewright.passes.kernel.staging import Ahead, Slot, Staging
from tilewright.passes.kernel.thread_values import ThreadValues
from tilewright.passes.reporting.refusal import refused

_D0 = AffineExpr.dimension(0)


class Pipeline:
    """
    Ring of a loop's slabs that are filled in the same way: all by TMA, or all by threads (stores or
    `cp.async`).
    """

    def __init__(
        self,
        op: loop.ReduceOp,
        first: SSAValue | None,
        stages: Sequence[tile.StageOp],
        values: ThreadValues,
        emitter: Emitter,
        staging: Staging,
    ):
        self.op, self.first, self.stages = op, first, stages
        self.values, self.emit, self.staging = values, emitter, staging
        self.depth, self.lookahead = _common_ring(stages)
        kinds = [staging.transport(stage) for stage in stages]
        self.transport = max(kinds, key=[*Transport].index)
        self.by_threads = [s for s in stages if staging.transport(s) is Transport.SYNC]
        self.around = list(emitter.loops)
        self.ahead: dict[tile.StageOp, Ahead] = {}
        if emitter.loops and op.is_bounded and self.transport is Transport.TMA:
            raise refused(
                op,
                "transport(tma) needs a fixed number of fills, but this inner loop skips steps; "
                "use transport(cp_async)",
            )
        with emitter.outside_loops():
            self.slabs = {stage: self._allocate(stage) for stage in stages}
            bytes = sum(bytes_of(stage.slab) for stage in stages)
            self.ring = emitter.value(RingOp(self.depth, self.transport, bytes), "ring")

    def begin(self) -> None:
        """Emit the fills of the first `lookahead` steps."""
        if self.emit.loops and self.transport is not Transport.TMA:
            self.emit.op(kernel.BarrierOp())  # others may still read slots of the last run
        if self.lookahead:
            first = "step" if self.lookahead == 1 else f"{self.lookahead} steps"
            self._comment(f"stage the first {first}: {filled(self.stages)}")
        for step in range(self.lookahead):
            self._begin_fill(self.emit.constant(step), self.op.below)
            self._end_fill()

    def before_step(self, index: SSAValue) -> None:
        """Emit the wait for the slabs of step `index`, and begin the fill that is ahead of it."""
        count = self._count(index)
        self._comment(f"stage step {self._filled}: {slabs(self.stages)}")
        if not self.lookahead:
            self._begin_fill(index, self.op.partial_below)
            self._end_fill()
        self.emit.op(RingWaitOp(self.ring, count, max(self.lookahead - 1, 0)))
        if self.lookahead:
            later = kernel.IndexOp(([_D0 + self.lookahead], [index]))
            self._begin_fill(self.emit.value(later, "next"), self.op.partial_below)
        slot = self._slot(count)
        for stage, slab in self.slabs.items():
            self.values.set_slot(stage.slab, slab, slot)

    def after_step(self, index: SSAValue) -> None:
        """Emit the end of the fill that is ahead, and release the slabs of step `index`."""
        if self.lookahead and self.by_threads:
            self._comment(f"finish step {self._filled}: {slabs(self.by_threads)}")
        if self.lookahead:
            self._end_fill()
        self.emit.op(RingReleaseOp(self.ring, self._count(index)))

    def _comment(self, text: str) -> None:
        self.emit.op(kernel.CommentOp(text))

    @property
    def _filled(self) -> str:
        """
        Text for the step whose fill is in progress during a step of the loop, such as `k + 2`.
        """
        axis = self.op.axis.name_hint or "after this"
        return f"{axis} + {self.lookahead}" if self.lookahead else axis

    def _begin_fill(self, index: SSAValue, below: Access | None) -> None:
        """
        Begin the fill of step `index`: begin copies, and load the values that threads store later.
        The fill is masked off if the loop has no such step, or the step exceeds the bounds `below`.
        """
        count = self._count(index)
        slot, axis = self._slot(count), self.emit.after(self.first, index, self.op.axis.name_hint)
        is_step = self._is_step(axis, below)
        self.filled = axis, slot, is_step
        self.ahead = {stage: self.staging.registers_ahead(stage) for stage in self.by_threads}
        with self.emit.guarded(is_step), self.values.scope():
            self.values.set(self.op.axis, axis)
            self.emit.op(RingAcquireOp(self.ring, count))
            for stage, slab in self.slabs.items():
                self._begin_stage(stage, Slot(slab, slot), count)
        self.emit.op(RingCommitOp(self.ring, count))

    def _begin_stage(self, stage: tile.StageOp, slot: Slot, count: SSAValue) -> None:
        with self.emit.at(stage):
            self._begin(stage, slot, count)

    def _begin(self, stage: tile.StageOp, slot: Slot, count: SSAValue) -> None:
        match self.staging.transport(stage):
            case Transport.SYNC:
                self.staging.load_ahead(stage, self.ahead[stage])
            case Transport.CP_ASYNC:
                self.staging.begin_copies(stage, slot)
            case Transport.TMA:
                self.staging.copy_box(stage, slot, self.ring, count)

    def _end_fill(self) -> None:
        """Store the values that threads have loaded for the fill."""
        if not self.by_threads:
            return
        axis, slot, is_step = self.filled
        with self.emit.guarded(is_step), self.values.scope():
            self.values.set(self.op.axis, axis)
            for stage in self.by_threads:
                with self.emit.at(stage):
                    self.staging.finish(stage, Slot(self.slabs[stage], slot), self.ahead[stage])

    def _allocate(self, stage: tile.StageOp) -> SSAValue:
        slab = memref_type(stage.slab)
        layout = stage.layout.with_slots()
        type = memref_of(slab.element_type, (self.depth, *slab.get_shape()), tile.SHARED, layout)
        with self.emit.at(stage):
            return self.emit.value(kernel.SharedOp(type), stage.slab.name_hint)

    def _is_step(self, axis: SSAValue, below: Access | None) -> Access:
        """
        Return the mask that holds if step `axis` is within the loop and the bounds `below`; it is
        never before the first step.
        """
        limits, operands = [AffineExpr.constant(self.op.axis_extents()[0])], list[SSAValue]()
        if below is not None:
            found, operands = self.values.substitution(below[1]).access(*below)
            limits += found
        step = AffineExpr.dimension(len(operands))
        return [limit - 1 - step for limit in limits], [*operands, axis]

    def _count(self, index: SSAValue) -> SSAValue:
        """
        Return the number of the fill of step `index`; fills in earlier steps of the surrounding
        loops count too.
        """
        if not self.around:
            return index
        indices, extents = zip(*self.around, strict=True)
        dims = [AffineExpr.dimension(at) for at in range(len(indices) + 1)]
        count = linearize(dims, [*extents, self.op.axis_extents()[0]])
        return self.emit.value(kernel.IndexOp(([count], [*indices, index])), "count")

    def _slot(self, count: SSAValue) -> SSAValue:
        return self.emit.value(kernel.IndexOp(([_D0 % self.depth], [count])), "slot")


def pipelines_of(
    op: loop.ReduceOp,
    stages: Sequence[tile.StageOp],
    first: SSAValue | None,
    values: ThreadValues,
    emitter: Emitter,
    staging: Staging,
) -> list[Pipeline]:
    """
    Return the pipelines for the stages in a loop's body: one for stages that TMA fills, one for the
    others.
    """
    by_tma = [stage for stage in stages if stage.transport_kind is Transport.TMA]
    others = [stage for stage in stages if stage not in by_tma]
    kinds = [kind for kind in (by_tma, others) if kind]
    return [Pipeline(op, first, kind, values, emitter, staging) for kind in kinds]


def _common_ring(stages: Sequence[tile.StageOp]) -> tuple[int, int]:
    rings = {(stage.depth, stage.lookahead) for stage in stages}
    if len(rings) > 1:
        raise refused(
            stages[-1],
            "the stages of one loop are filled together; give them rings of the same depth and "
            "lookahead",
        )
    return rings.pop()
