# SPDX-License-Identifier: Apache-2.0
"""
Assignments of threads to independent elements, with a model of their time like that of rows
(`row_assignment.py`):

    seconds = max(device memory, L2, instructions, waiting)
"""

from itertools import product
from math import log
from typing import NamedTuple

from tilewright.dialects import loop, tile
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.target import L2_BYTES, Target
from tilewright.dialects.types import memref_type, size_of
from tilewright.passes.cost import time_models
from tilewright.passes.cost.instruction_costs import instructions, is_computation
from tilewright.passes.cost.row_registers import BESIDE
from tilewright.passes.tile.planner.row_assignment import ACCESS, ISSUED
from tilewright.passes.tile.rebind import total_extent
from tilewright.passes.tile.row_facts import stride, vector_width_along
from tilewright.passes.tile.usual_sizes import USUAL_THREADS

_THREADS = (USUAL_THREADS, 128, 512)
_VECTORS = (1, 2, 4, 8, 16)
_ITEMS = (1, 2, 4)


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
    moved = [size_of(memref_type(op.memref).element_type) for op in ops if stride(op, last.value)]
    computed = [op for op in ops_in(launch) if is_computation(op)]
    return ElementProblem(
        total_extent(axes),
        vector_width_along(launch, last.value, last.extent),
        sum(moved),
        len(moved),
        sum(instructions(op) for op in computed),
    )


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
            most * self.line * problem.moved / L2_BYTES,
            most * self.line * work / ISSUED,
            -(-most // resident) * time_models.MEMORY * target.clock,
        )
        device = problem.elements * problem.moved / target.bandwidth
        return max(clocks / target.clock, device)

    def pipeline(self, problem: ElementProblem, target: Target) -> list[str]:
        """Return the steps that carry out the assignment, each as the text of a pipeline step."""
        if self == ALONE:
            return ["mark-unroll"]
        return [
            f"blockify-launch{{n={self.line}}}",
            f"register-tile{{items={self.items} vector={self.vector}}}",
            "mark-unroll",
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
