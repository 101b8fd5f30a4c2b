# SPDX-License-Identifier: Apache-2.0
"""Problem of a kernel of rows: the facts about its work on which assignments depend."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from xdsl.ir import Operation, SSAValue

from tilewright.dialects import loop, tile
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.types import memref_type, size_of
from tilewright.passes.cost.instruction_costs import (
    TOGETHER,
    instructions,
    is_computation,
    is_expensive,
    joining,
)
from tilewright.passes.tile.rebind import total_extent
from tilewright.passes.tile.row_facts import are_columns, row_length, vector_of_rows
from tilewright.passes.tile.steps_to_threads import is_cooperative


class RowProblem(NamedTuple):
    """Rows that are reduced, and possibly written."""

    rows: int
    length: int
    vector: int
    """Adjacent elements of a row that one access could move."""
    are_columns: bool
    """True if adjacent elements in memory belong to different rows."""
    read: int
    """Bytes that are read for each element, if it is read once."""
    reread: int
    """Bytes that all loops over the row read for each element."""
    written: int
    """Bytes that are written for each element."""
    loops: int
    """Loops over the row."""
    work: int
    """Instructions for each element, except memory accesses."""
    joins: int
    """
    Number of joins of threads that have to follow one another: the longest chain of dependent
    reductions.
    """
    joins_together: bool = False
    """True if a thread joins its elements at once, because a join takes many instructions."""

    @property
    def ends_joined(self) -> bool:
        """True if nothing is left to do along the row once it has been reduced."""
        return self.joins == 1 and self.written == 0

    def __str__(self) -> str:
        kind = ("column" if self.are_columns else "row") + "s" * (self.rows > 1)
        return (
            f"{self.rows} {kind} of {self.length}; an element is {self.read} B to read and "
            f"{self.written} B to write; joined {self.joins} time{'s' * (self.joins > 1)}"
        )


def row_problem(launch: tile.LaunchOp) -> RowProblem:
    """Return the problem of a launch whose threads share rows."""
    nests = [op for op in launch.body.block.ops if _goes_along_row(op)]
    columns = are_columns(launch)
    reads = [_bytes_moved(nest, loop.LoadOp) for nest in nests]
    writes = [_bytes_moved(nest, loop.StoreOp) for nest in nests]
    monoids = [nest.monoid.data for nest in nests if isinstance(nest, loop.ReduceOp)]
    joins_together = not columns and any(map(is_expensive, monoids))
    return RowProblem(
        total_extent(launch.bound_axes()),
        row_length(launch),
        vector_of_rows(launch),
        columns,
        sum({place: size for read in reads for place, size in read.items()}.values()),
        sum(size for read in reads for size in read.values()),
        sum(size for written in writes for size in written.values()),
        len(nests),
        sum(_work(nest, TOGETHER if joins_together else 1) for nest in nests),
        _chain(launch, nests),
        joins_together,
    )


def _goes_along_row(op: Operation) -> bool:
    return isinstance(op, loop.ForOp) or (isinstance(op, loop.ReduceOp) and is_cooperative(op))


def _bytes_moved(
    nest: Operation, kind: type[loop.LoadOp] | type[loop.StoreOp]
) -> dict[tuple[SSAValue, str], int]:
    """
    Return the bytes of one element for each different access of class `kind` in `nest` that moves
    along the row. Accesses are equal if memref and subscripts are.
    """
    found: dict[tuple[SSAValue, str], int] = {}
    for op in ops_in(nest):
        if isinstance(op, kind) and _varies_inside(op, nest):
            place = op.memref, str(op.map.data)
            found[place] = size_of(memref_type(op.memref).element_type)
    return found


def _varies_inside(op: loop.LoadOp | loop.StoreOp, nest: Operation) -> bool:
    axes = {arg for region in nest.regions for block in region.blocks for arg in block.args}
    return any(value in axes or _is_made_inside(value, nest) for value in op.indices)


def _is_made_inside(value: SSAValue, nest: Operation) -> bool:
    return isinstance(value.owner, Operation) and nest.is_ancestor(value.owner)


def _work(nest: Operation, together: int) -> int:
    """
    Return the instructions of one step of `nest`, except memory accesses. A thread joins `together`
    steps at once.
    """
    ops = [op for op in ops_in(nest) if op is not nest and is_computation(op)]
    joined = joining(nest.monoid.data, together) if isinstance(nest, loop.ReduceOp) else 0
    return round(joined) + sum(instructions(op) for op in ops)


def _chain(launch: tile.LaunchOp, nests: Sequence[Operation]) -> int:
    """
    Return the length of the longest chain of reductions over the row, each of which needs the one
    before.
    """
    depth: dict[SSAValue, int] = {}
    for op in launch.body.block.ops:
        own = _deepest(depth, (v for inner in ops_in(op) for v in inner.operands))
        if op in nests and isinstance(op, loop.ReduceOp):
            own += 1
        depth.update((result, own) for result in op.results)
    return _deepest(depth, depth)


def _deepest(depth: dict[SSAValue, int], values: Iterable[SSAValue]) -> int:
    return max((depth.get(value, 0) for value in values), default=0)
