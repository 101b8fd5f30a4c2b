# SPDX-License-Identifier: Apache-2.0
"""
Rows that are too long to stay on chip between two reductions: each reduction reads them from
memory.

    %maximum = loop.reduce %k in 4000000 with max { ... %x[%i, %k] ... }
    %sum = loop.reduce %k_1 in 4000000 with add { ... %x[%i, %k_1] ... }

A block has a row in registers, or a cluster has. Columns of a matrix (`%x[%k, %i]`) are read in
pieces of a sector, which a block has in shared memory.
"""

from collections.abc import Sequence
from dataclasses import replace

from xdsl.ir import SSAValue

from tilewright.dialects import loop
from tilewright.dialects.kernel_like import MAX_CLUSTER
from tilewright.dialects.monoid import Monoid
from tilewright.dialects.target import Target
from tilewright.dialects.types import memref_type
from tilewright.passes.cost.instruction_costs import TOGETHER, joining
from tilewright.passes.cost.row_registers import most_row_elements
from tilewright.passes.facts.footprint import element_bytes, elements_touched
from tilewright.passes.facts.nest import steps_of
from tilewright.passes.loop.fusion.fusion_cost import Decision, decide, work_of
from tilewright.passes.loop.fusion.op_counts import MatrixOps, counted, runs
from tilewright.passes.loop.plan import inputs_of

_SECTOR = 8
"""Fewest adjacent columns that a block reads: one sector of float32."""


def once_instead_of_twice(
    first: loop.ReduceOp,
    later: Sequence[loop.ReduceOp],
    monoid: Monoid,
    kernel: loop.KernelOp,
    launch: loop.LaunchOp,
    target: Target,
) -> Decision:
    """
    Return the decision whether one reduction with `monoid` replaces `first` and the `later` ones,
    which read the same rows again. The kernel that `launch` runs contains them.
    """
    once, times = work_of(kernel, launch), runs(kernel)
    buffers, reads = inputs_of(kernel, launch), dict(once.reads)
    for load in loads_of_row(later[0]):
        again = elements_touched(load) * element_bytes(load.memref)
        reads[buffers[load.memref]] += again
    dropped = [first, *(op for each in later for op in (each, *each.body.block.ops))]
    removed = counted(dropped, times, MatrixOps()).instructions
    together = TOGETHER if _are_rows(first) else 1
    added = times[first.yield_op] * joining(monoid, together)
    rewritten = replace(once, instructions=once.instructions - removed + added)
    what = f"join by {monoid} over rows of {first.extent.value.data}"
    return decide(what, [replace(once, reads=reads)], [rewritten], target)


def loads_of_row(op: loop.ReduceOp) -> list[loop.LoadOp]:
    """Return the loads in the body of a reduction that differ between its steps."""
    loads = [inner for inner in op.body.block.ops if isinstance(inner, loop.LoadOp)]
    return [load for load in loads if op.axis in load.indices]


def reason_on_chip(op: loop.ReduceOp, target: Target, most: int | None) -> str | None:
    """
    Reason why the rows that `op` reduces stay on chip between reductions, or None. `most` is the
    length of the longest row that does; None stands for the longest that `target` has room for.
    """
    (length,) = op.axis_extents()
    if not (loads := loads_of_row(op)):
        return "its rows are not read from memory"
    if most is None:
        most = _most_of_row(target) if _are_rows(op) else _most_of_column(op, loads, target)
    return None if length > most else f"rows of {length} stay on chip, up to {most} elements"


def _are_rows(op: loop.ReduceOp) -> bool:
    """True if neighbouring steps of `op` read neighbouring elements, of some buffer."""
    return any(_is_innermost(op.axis, load) for load in loads_of_row(op))


def _is_innermost(axis: SSAValue, load: loop.LoadOp) -> bool:
    """True if neighbouring steps of `axis` read neighbouring elements."""
    shape = memref_type(load.memref).get_shape()
    sized = [expr for expr, size in zip(load.map.data.results, shape, strict=True) if size != 1]
    used = sized[-1].used_dims() if sized else set[int]()
    return any(load.indices[dim] is axis for dim in used)


def _most_of_row(target: Target) -> int:
    return most_row_elements(target) * _blocks(target)


def _most_of_column(op: loop.ReduceOp, loads: Sequence[loop.LoadOp], target: Target) -> int:
    """Return the length of the longest column that half of the shared memory of blocks holds."""
    element = sum(element_bytes(load.memref) for load in loads)
    most = target.shared_per_block // (2 * element * _SECTOR)
    around = op.parent_op()
    rows = steps_of(around.body.block.args) if isinstance(around, loop.ForOp) else 1
    is_small_grid = -(-rows // _SECTOR) * MAX_CLUSTER <= 2 * target.sms
    return most * _blocks(target) if is_small_grid else most


def _blocks(target: Target) -> int:
    """Return the number of blocks that can share a row and wait for each other."""
    return MAX_CLUSTER if target.has_clusters else 1
