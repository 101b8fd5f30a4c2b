# SPDX-License-Identifier: Apache-2.0
"""
The accesses of a block's threads to its slabs in shared memory, and their bank conflicts.

The model predicts the result of `to-kernel`. A thread that reads neighbours, along a register axis
or in an unrolled loop, reads them in one instruction (`load-ahead-of-unrolled`, `vectorize`). A
thread that fills a slab writes vectors (`slab_walk`). TMA writes whole rows without bank conflicts.

Each slab can be examined in a layout different from its own, so that layouts can be compared before
one is chosen.
"""

from collections.abc import Iterator, Mapping
from math import prod
from typing import NamedTuple

from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import loop, tile
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.target import SCHEDULERS, WARP_SIZE
from tilewright.dialects.tile import SlabLayoutAttr, Transport
from tilewright.dialects.types import memref_type, size_of
from tilewright.passes.cost.matrix_reads import matrix_read
from tilewright.passes.cost.shared_banks import Wavefronts, wavefronts, wavefronts_at
from tilewright.passes.facts.affine_values import values_at
from tilewright.passes.facts.memoised import memoised
from tilewright.passes.facts.memory_access import accesses_of
from tilewright.passes.facts.named_slabs import stages_of
from tilewright.passes.facts.register_axes import register_axes
from tilewright.passes.facts.slab_walk import SlabWalk
from tilewright.passes.facts.vector_width import VectorAccess

USUAL_UNROLL_LIMIT = 16
"""Steps up to which `mark-unroll` unrolls a loop by default."""


class Request(NamedTuple):
    """
    A load or store of shared memory by a warp, and the number of times a block issues it per
    filling of the slab.
    """

    width: int
    """Elements that a lane moves."""
    taken: Wavefronts
    times: int


class Traffic(NamedTuple):
    """
    Number of shared-memory requests (loads and stores) of a block to a slab per filling, and their
    wavefronts with and without bank conflicts.
    """

    requests: int
    wavefronts: int
    ideal: int
    """Wavefronts of the same requests without bank conflicts."""

    @staticmethod
    def of(requests: list[Request]) -> "Traffic":
        """Return the sums of requests, wavefronts and ideal wavefronts over `requests`."""
        return Traffic(
            sum(request.times for request in requests),
            sum(request.times * request.taken.actual for request in requests),
            sum(request.times * request.taken.ideal for request in requests),
        )

    def __str__(self) -> str:
        return f"{self.factor:.2f}"

    @property
    def clocks(self) -> float:
        """
        Estimated clocks of all requests: one per wavefront, plus the issue of requests by four
        schedulers.
        """
        return self.wavefronts + self.requests / SCHEDULERS

    @property
    def factor(self) -> float:
        """Ratio of the wavefronts to those without conflicts; 1 if the slab is not accessed."""
        return self.wavefronts / self.ideal if self.ideal else 1.0


_Slab = tuple[tile.StageOp, SlabLayoutAttr]
"""A slab, and the layout in which it is examined."""


class SlabConflicts:
    """The shared memory requests to the slabs of one launch."""

    def __init__(self, launch: tile.LaunchOp, filled_like: "SlabConflicts | None" = None):
        """
        Analyse `launch`. If `filled_like` is given, its launch fills equal slabs in the same way,
        and its stores are reused.
        """
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
        self._alone = {op for block in self._blocks() for op in self._single_loads(block)}

    def traffic(self, stage: tile.StageOp, layout: SlabLayoutAttr | None = None) -> Traffic:
        """Return the traffic of a slab per filling, in its own layout or in `layout`."""
        return Traffic.of([*self.reads(stage, layout), *self.writes(stage, layout)])

    def reads(self, stage: tile.StageOp, layout: SlabLayoutAttr | None = None) -> list[Request]:
        """
        Return the requests by which threads load from a slab, in its own layout or in `layout`.
        Loads in other stages, which are filled from this slab, are not included.
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
        """
        Return the requests by which threads fill a slab, in its own layout or in `layout`; none if
        TMA fills it.
        """
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
        if (read := matrix_read(load, layout)) is not None:
            axes = self.registers.of(load.operands) - read.digits
            fragments = prod(self.registers.extents[axis] for axis in axes)
            steps = steps_around(load, stage.parent_op()) // read.steps
            return Request(read.width, read.taken, self.warps * fragments * steps * read.times)
        width = self.width(load, layout)
        (access,) = accesses_of(load)
        taken = wavefronts(access._replace(width=width), self.threads, layout)
        return Request(width, taken, self.warps * self.times(load, stage.parent_op()) // width)

    def times(self, op: loop.LoadOp | loop.StoreOp, within: Operation | None) -> int:
        """
        Return the number of elements that a thread loads or stores by `op` in each run of `within`.
        """
        held = prod(self.registers.extents[axis] for axis in self.registers.of(op.operands))
        return held * steps_around(op, within)

    def width(self, op: loop.LoadOp | loop.StoreOp, layout: SlabLayoutAttr | None = None) -> int:
        """
        Return the elements that a thread loads or stores at once, in a slab or in global memory.
        """
        if op not in self._steps:
            self._steps[op] = VectorAccess(op), self._steps_at_once(op)
        vectors, steps = self._steps[op]
        return max((vectors.width(*step, layout) for step in steps.items()), default=1)

    def _steps_at_once(self, op: loop.LoadOp | loop.StoreOp) -> Mapping[SSAValue, int]:
        """
        Return the axes along which a thread may combine accesses of `op` to a vector, with their
        numbers of steps.
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
        """Return the blocks of ops in the launch that contain a load."""
        loads = (op for op in ops_in(self.launch) if isinstance(op, loop.LoadOp))
        return list(dict.fromkeys(load.parent for load in loads if load.parent is not None))

    def _single_loads(self, block: Block) -> Iterator[loop.LoadOp]:
        """Yield the loads that are alone in their nest over register axes."""
        for run in self.registers.runs(block):
            if len(run.ops) == 1 and isinstance(run.ops[0], loop.LoadOp):
                yield run.ops[0]


@memoised
def conflicts_of(launch: tile.LaunchOp) -> SlabConflicts:
    """
    Return the requests to the slabs of a launch, which must not change while they are in use.
    """
    return SlabConflicts(launch)


def steps_around(op: Operation, within: Operation | None) -> int:
    """
    Return the number of runs of `op` per run of `within`, an op around it; None stands for all of
    its loops.
    """
    steps, around = 1, op.parent_op()
    while around is not None and around is not within:
        if isinstance(around, loop.AnyLoop):
            steps *= prod(around.axis_extents())
        around = around.parent_op()
    return steps


def slab_traffic(launch: tile.LaunchOp) -> dict[SSAValue, Traffic]:
    """Return the traffic of each slab of a launch per filling, by the slab's value."""
    conflicts = SlabConflicts(launch)
    return {stage.slab: conflicts.traffic(stage) for stage in conflicts.stages}


def _will_be_unrolled(op: loop.ReduceOp) -> bool:
    """
    True if a loop of several steps is or will be unrolled and its threads do not synchronise in it.
    """
    meetings = [inner for inner in ops_in(op) if isinstance(inner, tile.StageOp | tile.CombineOp)]
    if op.is_bounded or meetings:
        return False
    (steps,) = op.axis_extents()
    return steps > 1 and (op.is_unrolled or steps <= USUAL_UNROLL_LIMIT)
