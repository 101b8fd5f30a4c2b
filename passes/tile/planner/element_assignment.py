# SPDX-License-Identifier: Apache-2.0
"""
Assignments of threads to independent elements, with a model of their time like that of rows
(`row_assignment.py`):

    seconds = max(device memory, L2, instructions, waiting)

Loads of elements that are apart, as in a pool with stride 2, ask L2 for whole sectors. A thread
with several neighbouring elements loads each by an instruction of its own. The lanes of a warp are
then further apart, and ask for more sectors.
"""

from collections.abc import Sequence
from itertools import product
from math import log
from typing import NamedTuple

from tilewright.dialects import loop, tile
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.target import L2_BYTES, Target
from tilewright.dialects.types import memref_type, size_of
from tilewright.passes.cost import time_models
from tilewright.passes.cost.global_sectors import SECTOR_BYTES
from tilewright.passes.cost.instruction_costs import instructions, is_computation
from tilewright.passes.cost.row_registers import BESIDE
from tilewright.passes.cost.slab_conflicts import USUAL_UNROLL_LIMIT, steps_around
from tilewright.passes.tile.planner.row_assignment import ACCESS, ISSUED
from tilewright.passes.tile.rebind import total_extent
from tilewright.passes.tile.row_facts import stride, vector_width_along
from tilewright.passes.tile.usual_sizes import USUAL_THREADS

_THREADS = (USUAL_THREADS, 128, 512)
_VECTORS = (1, 2, 4, 8, 16)
_ITEMS = (1, 2, 4)

_MOST_UNROLLED = 32
"""Most steps of a loop for one element that is unrolled, as of a window of 3 x 3 x 3."""


class ApartLoads(NamedTuple):
    """Load of elements that are not adjacent for neighbouring results."""

    times: int
    """Times that it runs for each result."""
    size: int
    """Bytes of an element."""
    stride: int
    """Elements between those of neighbouring results."""

    def asked(self, vector: int) -> int:
        """Return the bytes of sectors for each result if a thread has `vector` of them."""
        return self.times * min(SECTOR_BYTES, vector * self.stride * self.size)


class ElementProblem(NamedTuple):
    """Kernel of independent elements, each computed from its own loads."""

    elements: int
    vector: int
    """Adjacent elements that one access could move."""
    moved: int
    """
    Bytes that are loaded and stored for each element; accesses that do not move along the last axis
    are not counted.
    """
    accesses: int
    """Loads and stores for each element that move along the last axis."""
    work: int
    """Instructions for each element, except memory accesses."""
    apart: Sequence[ApartLoads] = ()
    """Loads of elements that are apart, which `moved` contains once."""
    steps: int = 1
    """Most steps of a loop in which an element is computed."""

    def asked(self, vector: int) -> int:
        """
        Return the bytes that L2 is asked for each element if a thread has `vector` neighbours.
        """
        return self.moved + sum(load.asked(vector) - load.size for load in self.apart)

    def __str__(self) -> str:
        if self.elements == 1:
            return "one element"
        return f"{self.elements} elements of {self.moved} B to move, up to {self.vector} at once"


def element_problem(launch: tile.LaunchOp) -> ElementProblem:
    """Return the problem of a launch whose threads have elements of their own, or short rows."""
    axes = launch.bound_axes()
    if not axes:
        return ElementProblem(1, 1, 0, 0, 0)
    ops = [op for op in ops_in(launch) if isinstance(op, loop.LoadOp | loop.StoreOp)]
    last = axes[-1]
    moved = [_size(op) for op in ops if stride(op, last.value)]
    loads = [op for op in ops if isinstance(op, loop.LoadOp)]
    apart = [
        ApartLoads(steps_around(op, launch), _size(op), by)
        for op in loads
        if (by := abs(stride(op, last.value))) > 1
    ]
    reductions = [op for op in ops_in(launch) if isinstance(op, loop.ReduceOp)]
    computed = [op for op in ops_in(launch) if is_computation(op)]
    return ElementProblem(
        total_extent(axes),
        vector_width_along(launch, last.value, last.extent),
        sum(moved),
        len(moved),
        sum(instructions(op) for op in computed),
        apart,
        max((n for op in reductions for n in op.axis_extents()), default=1),
    )


def _size(op: loop.LoadOp | loop.StoreOp) -> int:
    return size_of(memref_type(op.memref).element_type)


class ElementAssignment(NamedTuple):
    """Assignment of threads to elements: the joint decision for a kernel of elements."""

    threads: int
    """Threads of a block."""
    items: int
    """Strips of a thread."""
    vector: int
    """Adjacent elements of a strip."""

    def __str__(self) -> str:
        if self == ALONE:
            return "one thread does it"
        of_thread = self.items * self.vector
        each = "an element" if of_thread == 1 else f"{of_thread} elements"
        return f"{self.threads} threads a block, {each} each by {self.vector}"

    @property
    def elements(self) -> int:
        """Elements of a thread."""
        return self.items * self.vector

    @property
    def line(self) -> int:
        """Elements of a block."""
        return self.threads * self.elements

    def blocks(self, problem: ElementProblem) -> int:
        """Return the number of blocks of the grid."""
        return -(-problem.elements // self.line)

    def seconds(self, problem: ElementProblem, target: Target) -> float:
        """
        Return the seconds that the kernel takes, by the model in the docstring of this module.
        """
        most = -(-self.blocks(problem) // target.sms)
        registers = BESIDE + self.items * self.vector * problem.accesses
        resident = min(most, max(1, target.blocks_per_sm(self.threads, 0, registers)))
        work = problem.work + ACCESS * problem.accesses / self.vector
        clocks = max(
            most * self.line * problem.asked(self.vector) / L2_BYTES,
            most * self.line * work / ISSUED,
            -(-most // resident) * time_models.MEMORY * target.clock,
        )
        device = problem.elements * problem.moved / target.bandwidth
        return max(clocks / target.clock, device)

    def pipeline(self, problem: ElementProblem, target: Target) -> list[str]:
        """Return the steps that carry out the assignment, each as the text of a pipeline step."""
        if self == ALONE:
            return ["mark-unroll"]
        is_long = USUAL_UNROLL_LIMIT < problem.steps <= _MOST_UNROLLED
        limit = f"{{limit={problem.steps}}}" if is_long else ""
        return [
            f"blockify-launch{{n={self.line}}}",
            f"register-tile{{items={self.items} vector={self.vector}}}",
            f"mark-unroll{limit}",
        ]


ALONE = ElementAssignment(1, 1, 1)
"""Assignment of one thread, which needs no pass except `mark-unroll`."""


def element_assignments(problem: ElementProblem, target: Target) -> list[ElementAssignment]:
    """Return the possible assignments, the fastest first."""
    if problem.elements == 1:
        return [ALONE]
    vectors = [vector for vector in _VECTORS if vector <= problem.vector]
    possible = [ElementAssignment(*choice) for choice in product(_THREADS, _ITEMS, vectors)]
    return sorted(possible, key=lambda each: _preference(each, problem, target))


def _preference(
    choice: ElementAssignment, problem: ElementProblem, target: Target
) -> tuple[float, ...]:
    """
    Return a sort key: the time in buckets of 2 %, then blocks near the usual size, no idle SM, few
    strips, wide accesses.
    """
    about = time_models.time_bucket(choice.seconds(problem, target), within=0.02)
    idle = max(0, target.sms - choice.blocks(problem))
    unusual = abs(log(choice.threads / USUAL_THREADS, 2))
    return about, unusual, idle, choice.items, -choice.vector
