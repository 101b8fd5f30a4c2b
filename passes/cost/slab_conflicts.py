# SPDX-License-Identifier: Apache-2.0
"""
What the threads of a block do to its slabs in shared memory, and which banks they meet there.

This foretells what `to-kernel` makes of a launch. A thread that reads neighbours, along a register
axis or in a loop that is unrolled, reads them at once (`load-ahead-of-unrolled`, `vectorize`); one
that fills a slab writes vectors (`slab_walk`). TMA writes whole rows, and meets no bank twice.

Each slab can be looked at in a layout other than its own, so that layouts can be compared before
one is chosen.
"""

from collections.abc import Iterator, Mapping
from math import prod
from typing import NamedTuple

from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import loop, tile
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.target import WARP_SIZE
from tilewright.dialects.tile import SlabLayoutAttr, Transport
from tilewright.dialects.types import memref_type, size_of
from tilewright.passes.cost.shared_banks import Wavefronts, wavefronts, wavefronts_at
from tilewright.passes.facts.affine_values import values_at
from tilewright.passes.facts.memory_access import accesses_of
from tilewright.passes.facts.named_slabs import stages_of
from tilewright.passes.facts.register_axes import register_axes
from tilewright.passes.facts.remembered import remembered
from tilewright.passes.facts.slab_walk import SlabWalk
from tilewright.passes.facts.vector_width import VectorAccess

USUAL_UNROLL_LIMIT = 16
"""Steps up to which `mark-unroll` unrolls a loop by default."""

_SCHEDULERS = 4
"""Of an SM, each of which issues an instruction in a clock."""


class Request(NamedTuple):
    """A load or store of shared memory by a warp, and how often a block does it for a slab."""

    width: int
    """Elements that a lane moves."""
    taken: Wavefronts
    times: int


class Traffic(NamedTuple):
    """What a block does to a slab each time that it is filled."""

    requests: int
    wavefronts: int
    ideal: int
    """Wavefronts without conflicts."""

    @staticmethod
    def of(requests: list[Request]) -> "Traffic":
        """Return all of them together."""
        return Traffic(
            sum(request.times for request in requests),
            sum(request.times * request.taken.actual for request in requests),
            sum(request.times * request.taken.ideal for request in requests),
        )

    def __str__(self) -> str:
        return f"{self.factor:.2f}"

    @property
    def clocks(self) -> float:
        """The time it takes: a wavefront a clock, and four schedulers that issue requests."""
        return self.wavefronts + self.requests / _SCHEDULERS

    @property
    def factor(self) -> float:
        """How many times as long as without conflicts; 1 where there is nothing to do."""
        return self.wavefronts / self.ideal if self.ideal else 1.0


_Slab = tuple[tile.StageOp, SlabLayoutAttr]
"""A slab in the layout in which it is looked at."""


class SlabConflicts:
    """The requests for the slabs of one launch."""

    def __init__(self, launch: tile.LaunchOp, filled_like: "SlabConflicts | None" = None):
        """A launch that fills its slabs as another does, of which that much is known then."""
        self.launch, self.threads = launch, launch.num_threads
        self.warps = -(-self.threads // WARP_SIZE)
        self.registers = register_axes(launch)
        self.stages = stages_of(launch)
        self._reads: dict[_Slab, list[Request]] = {}
        self._writes: dict[_Slab, list[Request]] = {}
        self._originals = dict(zip(self.stages, self.stages, strict=True))
        if filled_like is not None:
            self._writes = filled_like._writes
            self._originals = dict(zip(self.stages, filled_like.stages, strict=True))
        self._steps: dict[Operation, tuple[VectorAccess, Mapping[SSAValue, int]]] = {}
        self._alone = {op for block in self._blocks() for op in self._done_alone(block)}

    def traffic(self, stage: tile.StageOp, layout: SlabLayoutAttr | None = None) -> Traffic:
        """Return all that is done to a slab, in its layout or another."""
        return Traffic.of([*self.reads(stage, layout), *self.writes(stage, layout)])

    def reads(self, stage: tile.StageOp, layout: SlabLayoutAttr | None = None) -> list[Request]:
        """
        Return the loads of the threads; those of stages that are filled from this one are left out.
        """
        looked_at = stage, layout or stage.layout
        if looked_at not in self._reads:
            self._reads[looked_at] = [
                self._read(use.operation, *looked_at)
                for use in stage.slab.uses
                if isinstance(use.operation, loop.LoadOp)
                and not isinstance(use.operation.parent_op(), tile.StageOp)
            ]
        return self._reads[looked_at]

    def writes(self, stage: tile.StageOp, layout: SlabLayoutAttr | None = None) -> list[Request]:
        """Return the stores of the threads that fill a slab."""
        looked_at = self._originals[stage], layout or stage.layout
        if looked_at not in self._writes:
            self._writes[looked_at] = [*self._write(*looked_at)]
        return self._writes[looked_at]

    def _write(self, stage: tile.StageOp, layout: SlabLayoutAttr) -> Iterator[Request]:
        if stage.transport_kind is Transport.TMA:
            return
        walk, type = SlabWalk.of(stage, self.threads, layout), memref_type(stage.slab)
        element = size_of(type.element_type)
        offset = layout.offset(walk.beginning(AffineExpr.dimension(0)), type)
        lanes = range(min(self.threads, WARP_SIZE, walk.vectors))
        offsets = values_at(offset, [lanes], len(lanes))
        addresses = (layout.swizzled(at * element) for at in offsets)
        taken = wavefronts_at(tuple(addresses), walk.width * element)
        yield Request(walk.width, taken, -(-walk.vectors // taken.lanes))

    def _read(self, load: loop.LoadOp, stage: tile.StageOp, layout: SlabLayoutAttr) -> Request:
        width = self.width(load, layout)
        (access,) = accesses_of(load)
        taken = wavefronts(access._replace(width=width), self.threads, layout)
        return Request(width, taken, self.warps * self.times(load, stage.parent_op()) // width)

    def times(self, op: loop.LoadOp | loop.StoreOp, within: Operation | None) -> int:
        """How many elements a thread loads or stores for each time that `within` is done."""
        held = prod(self.registers.extents[axis] for axis in self.registers.of(op.operands))
        return held * steps_around(op, within)

    def width(self, op: loop.LoadOp | loop.StoreOp, layout: SlabLayoutAttr | None = None) -> int:
        """
        Return the elements that a thread loads or stores at once, of a slab or of global memory.
        """
        if op not in self._steps:
            self._steps[op] = VectorAccess(op), self._steps_at_once(op)
        vectors, steps = self._steps[op]
        return max((vectors.width(*step, layout) for step in steps.items()), default=1)

    def _steps_at_once(self, op: loop.LoadOp | loop.StoreOp) -> Mapping[SSAValue, int]:
        """
        Return the axes along which a thread may load or store vectors, and how many steps it does.
        """
        axes = self.registers.ordered(self.registers.of(op.operands))
        if not axes or any(isinstance(index.owner, Operation) for index in op.indices):
            return {}
        steps = {axis: self.registers.extents[axis] for axis in axes if axis in op.indices}
        around = op.parent_op()
        if op in self._alone and isinstance(around, loop.ReduceOp) and _will_be_unrolled(around):
            steps[around.axis] = around.axis_extents()[0]
        return steps

    def _blocks(self) -> list[Block]:
        """Return the blocks that load anything."""
        loads = (op for op in ops_in(self.launch) if isinstance(op, loop.LoadOp))
        return list(dict.fromkeys(load.parent for load in loads if load.parent is not None))

    def _done_alone(self, block: Block) -> Iterator[loop.LoadOp]:
        """Yield the loads that a nest over register axes does and nothing else."""
        for run in self.registers.runs(block):
            if len(run.ops) == 1 and isinstance(run.ops[0], loop.LoadOp):
                yield run.ops[0]


@remembered
def conflicts_of(launch: tile.LaunchOp) -> SlabConflicts:
    """
    Return the requests for the slabs of a launch, which is not changed while they are looked at.
    """
    return SlabConflicts(launch)


def steps_around(op: Operation, within: Operation | None) -> int:
    """How often `op` is done for each time that `within`, which it is in, is."""
    steps, around = 1, op.parent_op()
    while around is not None and around is not within:
        if isinstance(around, loop.AnyLoop):
            steps *= prod(around.axis_extents())
        around = around.parent_op()
    return steps


def slab_traffic(launch: tile.LaunchOp) -> dict[SSAValue, Traffic]:
    """Return all that is done to each slab of a launch."""
    conflicts = SlabConflicts(launch)
    return {stage.slab: conflicts.traffic(stage) for stage in conflicts.stages}


def _will_be_unrolled(op: loop.ReduceOp) -> bool:
    """True if a loop of several steps is or will be unrolled; threads do not meet in it."""
    meetings = [inner for inner in ops_in(op) if isinstance(inner, tile.StageOp | tile.CombineOp)]
    if op.is_bounded or meetings:
        return False
    (steps,) = op.axis_extents()
    return steps > 1 and (op.is_unrolled or steps <= USUAL_UNROLL_LIMIT)
