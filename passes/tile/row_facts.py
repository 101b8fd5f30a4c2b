# SPDX-License-Identifier: Apache-2.0
"""
Facts about launches that work on rows: the length of a row, its layout in memory, and whether one
thread handles it or many.
"""

from math import prod

from xdsl.ir import Operation, SSAValue

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Role
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.kernel_like import MAX_THREADS
from tilewright.dialects.types import memref_type
from tilewright.passes.facts.roles import index_sources
from tilewright.passes.facts.vector_width import vector_width
from tilewright.passes.tile.rebind import total_extent

SHORT_ROW = 32
"""Steps below which one thread handles a row: the size of a warp."""

SECTOR = 8
"""
float32 elements in a sector of memory, the smallest unit that is read: this many columns waste
none.
"""

_LONG_DOT, _FEW_DOTS = 512, 1024
"""
Fewest steps and most results of a contraction whose threads share results. One thread for each
result would leave most of a GPU idle.
"""


LONG = 17
"""
Fewest steps of a reduction that is split into chunks; a shorter loop is unrolled (mark-unroll).
"""


def is_contraction(launch: tile.LaunchOp) -> bool:
    """True if the launch has rows and columns, each element a reduction of its own."""
    return any(axis.role is Role.N for axis in launch.bound_axes())


def row_length(launch: tile.LaunchOp) -> int:
    """
    Return the number of steps of the longest loop in the body of the launch; 0 if it has no loop.
    """
    loops = [op for op in launch.body.block.ops if isinstance(op, loop.ReduceOp | loop.ForOp)]
    return max((prod(op.axis_extents()) for op in loops), default=0)


def columns_per_row(launch: tile.LaunchOp) -> int:
    """
    Return the number of steps of the loop over columns that each row is reduced with; 0 if there is
    none.
    """
    loops = [op for op in launch.body.block.ops if isinstance(op, loop.ForOp)]
    reduces = [op for op in loops if any(isinstance(i, loop.ReduceOp) for i in op.body.block.ops)]
    return max((prod(op.axis_extents()) for op in reduces), default=0)


def scans(launch: tile.LaunchOp) -> bool:
    """
    True if the launch has a scan. Its steps depend on each other, so that one thread has to do
    them.
    """
    return any(isinstance(op, loop.ScanOp) for op in ops_in(launch))


def rows_are_cooperative(launch: tile.LaunchOp) -> bool:
    """True if threads share each row, rather than having elements or rows of their own."""
    if scans(launch):
        return False
    if is_contraction(launch):
        has_few = total_extent(launch.bound_axes()) <= _FEW_DOTS
        return has_few and row_length(launch) >= _LONG_DOT
    return row_length(launch) >= SHORT_ROW


def are_columns(launch: tile.LaunchOp) -> bool:
    """True if consecutive rows, not the elements of one row, are adjacent in memory."""
    axes = launch.bound_axes()
    if not axes or axes[-1].extent < SECTOR:
        return False
    row = axes[-1].value
    nests = [op for op in launch.body.block.ops if isinstance(op, loop.ReduceOp | loop.ForOp)]
    if any(_goes_by_data(op, row) for nest in nests for op in _accesses(nest)):
        return False
    accesses = [op for nest in nests for op in _accesses(nest) if stride(op, row)]
    inner = [axis for nest in nests for axis in nest.body.block.args]
    return bool(accesses) and not any(
        stride(op, row) != 1 or any(stride(op, axis) == 1 for axis in inner) for op in accesses
    )


def vector_width_along(nest: Operation, axis: SSAValue, extent: int) -> int:
    """
    Return how many adjacent elements along `axis`, of `extent` steps, one instruction can move.
    Every access of `nest` with stride 1 along the axis must allow it; 1 if there is none.
    """
    along = [op for op in _accesses(nest) if stride(op, axis) == 1]
    return min((vector_width(op, axis, extent) for op in along), default=1)


def vector_of_rows(launch: tile.LaunchOp) -> int:
    """
    Return how many adjacent elements of a row one access can move. If consecutive rows, not the
    elements of one, are adjacent in memory (`are_columns`), return how many rows.
    """
    if are_columns(launch):
        axis = launch.bound_axes()[-1]
        return vector_width_along(launch, axis.value, axis.extent)
    nests = [op for op in launch.body.block.ops if isinstance(op, loop.ReduceOp | loop.ForOp)]
    innermost = [(nest, nest.body.block.args[-1], nest.axis_extents()[-1]) for nest in nests]
    long = [found for found in innermost if prod(found[0].axis_extents()) >= SHORT_ROW]
    return min((vector_width_along(*found) for found in long), default=1)


def _accesses(nest: Operation) -> list[loop.LoadOp | loop.StoreOp]:
    return [op for op in ops_in(nest) if isinstance(op, loop.LoadOp | loop.StoreOp)]


def _goes_by_data(op: loop.LoadOp | loop.StoreOp, axis: SSAValue) -> bool:
    """
    True if `axis` changes the address only through data, such as a row that an index tensor gives.
    """
    return axis not in op.indices and axis in index_sources(op.indices)


def stride(op: loop.LoadOp | loop.StoreOp, axis: SSAValue) -> int:
    """Return the number of elements by which the access moves in the first step of `axis`."""
    offsets = [0, 0]
    for step in (0, 1):
        indices = [step if value is axis else 0 for value in op.indices]
        shape = memref_type(op.memref).get_shape()
        for subscript, extent in zip(op.map.data.eval(indices, []), shape, strict=True):
            offsets[step] = offsets[step] * extent + subscript
    return offsets[1] - offsets[0]


def has_threads(launch: tile.LaunchOp) -> bool:
    """True if axes of the launch are bound to threads."""
    return bool(launch.thread_axes())


def has_few_threads(launch: tile.LaunchOp) -> bool:
    """True if a block has no more threads than a GPU allows."""
    return launch.num_threads <= MAX_THREADS
