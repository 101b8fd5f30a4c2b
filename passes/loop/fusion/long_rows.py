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
from typing import NamedTuple

from xdsl.ir import Block, Region, SSAValue

from tilewright.dialects import loop
from tilewright.dialects.kernel_like import MAX_CLUSTER
from tilewright.dialects.monoid import Monoid, MonoidAttr
from tilewright.dialects.target import Target
from tilewright.dialects.types import memref_type
from tilewright.passes.cost.instruction_costs import TOGETHER, joining
from tilewright.passes.cost.row_registers import most_row_elements
from tilewright.passes.facts.footprint import element_bytes, elements_touched
from tilewright.passes.facts.nest import steps_of
from tilewright.passes.loop.fusion.fusion_cost import Decision, decide, work_of
from tilewright.passes.loop.fusion.op_counts import MatrixOps, counted, runs
from tilewright.passes.loop.launch_graph import inputs_of
from tilewright.passes.reporting.trace import Rule, decided, skipped
from tilewright.passes.rewriting.substitution import Substitution

_SECTOR = 8
"""Fewest adjacent columns that a block reads: one sector of float32."""


class LongRows(NamedTuple):
    """Reductions of the same rows, each of which reads them from memory if they are long."""

    first: loop.ReduceOp
    later: Sequence[loop.ReduceOp]
    kernel: loop.KernelOp
    launch: loop.LaunchOp

    def should_join(
        self, rule: Rule, monoid: Monoid, reason: str | None, target: Target, most: int | None
    ) -> bool:
        """
        True if one reduction with `monoid` should replace all of them. Report the decision, or
        `reason` if it is a reason against the rewrite. `most` is the length of the longest row that
        stays on chip, or None for the longest that `target` has room for.
        """
        reason = reason or _reason_on_chip(self.first, target, most)
        if reason is not None:
            skipped(rule, self.kernel, reason)
            return False
        decision = self._decision(monoid, target)
        report = decided if decision.pays else skipped
        report(rule, self.kernel, decision.reason)
        return decision.pays

    def _decision(self, monoid: Monoid, target: Target) -> Decision:
        """Return the decision whether one pass over the rows with `monoid` is faster."""
        once, times = work_of(self.kernel, self.launch), runs(self.kernel)
        buffers, reads = inputs_of(self.kernel, self.launch), dict(once.reads)
        for load in _loads_of_row(self.later[0]):
            again = elements_touched(load) * element_bytes(load.memref)
            reads[buffers[load.memref]] += again
        replaced = (op for each in self.later for op in (each, *each.body.block.ops))
        removed = counted([self.first, *replaced], times, MatrixOps()).instructions
        together = TOGETHER if _are_rows(self.first) else 1
        added = times[self.first.yield_op] * joining(monoid, together)
        rewritten = replace(once, instructions=once.instructions - removed + added)
        what = f"join by {monoid} over rows of {self.first.extent.value.data}"
        return decide(what, [replace(once, reads=reads)], [rewritten], target)


def step_of(op: loop.ReduceOp) -> tuple[Block, SSAValue]:
    """Return a copy of the body of `op` without its yield, and the value that it yielded."""
    (axis,) = (body := Block(arg_types=[op.axis.type])).args
    axis.name_hint = op.axis.name_hint
    substitution = Substitution({op.axis: axis})
    body.add_ops(
        substitution.clone(inner) for inner in op.body.block.ops if inner is not op.yield_op
    )
    return body, substitution.value(op.yield_op.values[0])


def reduction_like(op: loop.ReduceOp, body: Block, monoid: Monoid) -> loop.ReduceOp:
    """Return a reduction with as many steps as `op` that joins the values of `body`."""
    (length,) = op.axis_extents()
    reduction = loop.ReduceOp(length, MonoidAttr(monoid), Region(body))
    reduction.location = op.location
    return reduction


def _loads_of_row(op: loop.ReduceOp) -> list[loop.LoadOp]:
    """Return the loads in the body of a reduction that differ between its steps."""
    loads = [inner for inner in op.body.block.ops if isinstance(inner, loop.LoadOp)]
    return [load for load in loads if op.axis in load.indices]


def _reason_on_chip(op: loop.ReduceOp, target: Target, most: int | None) -> str | None:
    """
    Reason why the rows that `op` reduces stay on chip between reductions, or None. `most` is the
    length of the longest row that does; None stands for the longest that `target` has room for.
    """
    (length,) = op.axis_extents()
    if not (loads := _loads_of_row(op)):
        return "its rows are not read from memory"
    if most is None:
        most = _most_of_row(target) if _are_rows(op) else _most_of_column(op, loads, target)
    return None if length > most else f"rows of {length} stay on chip, up to {most} elements"


def _are_rows(op: loop.ReduceOp) -> bool:
    """True if neighbouring steps of `op` read neighbouring elements, of some buffer."""
    return any(_is_innermost(op.axis, load) for load in _loads_of_row(op))


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
