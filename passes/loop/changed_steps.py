# SPDX-License-Identifier: Apache-2.0
"""
Kernels that copy a buffer except for some steps of an axis, and their rewrite without the copy.

    loop.for %i in 2, %j in 32, %l in 16 {                   loop.for %i in 2, %l in 16 {
      %1 = loop.to_index %0 below 32 : i64                     %1 = loop.to_index %0 below 32 : i64
      %2 = loop.index [%1]    %3 = loop.index [%j]
      %4 = arith.cmpi eq, %2, %3                     or
      %5 = loop.load %row[%i, %l]                              %5 = loop.load %row[%i, %l]
      %6 = loop.load %base[%i, %j, %l]
      %7 = arith.select %4, %5, %6
      loop.store %7, %out[%i, %j, %l]                          loop.store %5, %out[%i, %1, %l]

The right kernel has the effect of the left one if `%out` already holds the contents of `%base`.
Instead of one step given by data, the changed steps may be the first ones of the axis:
`loop.predicate [15 - %j]`.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from xdsl.dialects import arith
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap
from xdsl.rewriter import Rewriter

from tilewright.dialects import loop
from tilewright.dialects.axes import extent_of
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.index import sum_of
from tilewright.passes.facts.effects import is_pure
from tilewright.passes.loop.nest_axes import over_axes, replace_nest

_STEP = AffineDimExpr(0)
_EQUAL = arith.CMPI_COMPARISON_OPERATIONS.index("eq")


class Copied(NamedTuple):
    """A store of a selection between a new value and the old one."""

    store: loop.StoreOp
    select: arith.SelectOp
    old: loop.LoadOp


class Changed(NamedTuple):
    """The stores of a kernel that changes only some steps of an axis and copies the others."""

    stores: Sequence[Copied]
    """One store for each output; all stores change the same steps."""
    axis: BlockArgument
    step: SSAValue | None
    """Index of the only step that changes something; if None, the first `steps` steps change."""
    steps: int

    @property
    def nest(self) -> loop.ForOp:
        """Loop over the axis."""
        nest = self.axis.owner.parent_op()
        assert isinstance(nest, loop.ForOp)
        return nest


def changed_steps(kernel: loop.KernelOp) -> Changed | None:
    """Return the changes that a kernel makes to copies; None if the kernel does anything else."""
    stores = [op for op in ops_in(kernel) if isinstance(op, loop.StoreOp)]
    copies = [copied for store in stores if (copied := _copied(store)) is not None]
    conditions = {copied.select.cond for copied in copies}
    if len(copies) != len(kernel.outputs) or len(copies) != len(stores) or len(conditions) != 1:
        return None
    axes = [*_free_axes(stores[0])]
    found = (Changed(copies, *chosen) for chosen in _chosen(conditions.pop().owner, axes))
    return next((changed for changed in found if _is_known_first(changed)), None)


def _copied(store: loop.StoreOp) -> Copied | None:
    select = store.value.owner
    if not isinstance(select, arith.SelectOp) or not select.result.has_one_use():
        return None
    old = select.rhs.owner
    if not isinstance(old, loop.LoadOp) or store.mask is not None or not _is_copied(old, store):
        return None
    return Copied(store, select, old)


def _is_copied(load: loop.LoadOp, store: loop.StoreOp) -> bool:
    """True if `load` reads the element that `store` writes, and has the only use of its buffer."""
    same = load.map == store.map and [*load.indices] == [*store.indices]
    is_alone = load.result.has_one_use() and load.memref.has_one_use()
    return same and load.mask is None and is_alone and load.memref.type == store.memref.type


def _free_axes(op: Operation) -> Iterator[BlockArgument]:
    """Yield the axes of the loops around `op`, innermost loop first."""
    around = op.parent_op()
    while isinstance(around, loop.ForOp):
        yield from around.body.block.args
        around = around.parent_op()


def _chosen(
    condition: Operation | Block, axes: list[BlockArgument]
) -> Iterator[tuple[BlockArgument, SSAValue | None, int]]:
    """
    Yield each axis of which `condition` selects certain steps: the axis, the index of the one step,
    and the number of steps. The index is None if the steps are the first ones.
    """
    match condition:
        case arith.CmpiOp() if condition.predicate.value.data == _EQUAL:
            one, other = _index_of(condition.lhs), _index_of(condition.rhs)
            for axis, step in ((one, other), (other, one)):
                if isinstance(axis, BlockArgument) and axis in axes and step is not None:
                    yield axis, step, 1
        case loop.PredicateOp() if len(condition.indices) == 1:
            axis = condition.indices[0]
            if isinstance(axis, BlockArgument) and axis in axes:
                if (steps := _first_steps(condition.map.data, extent_of(axis))) is not None:
                    yield axis, None, steps
        case _:
            return


def _index_of(value: SSAValue) -> SSAValue | None:
    """Return the index that `value` holds as an integer; None if it is not a single index."""
    op = value.owner
    if isinstance(op, loop.IndexOp) and op.map.data == AffineMap.identity(1):
        return op.indices[0]
    return None


def _first_steps(bounds: AffineMap, extent: int | None) -> int | None:
    """Return n if `bounds` hold in the first n steps of `extent` and in no other, else None."""
    terms = [sum_of(bound) for bound in bounds.results]
    if extent is None or any(term.terms.keys() - {_STEP} for term in terms):
        return None
    first, end = 0, extent
    for term in terms:
        slope, constant = term.terms.get(_STEP, 0), term.constant
        if slope > 0:
            first = max(first, -(constant // slope))
        elif slope < 0:
            end = min(end, constant // -slope + 1)
        elif constant < 0:
            end = 0
    if first >= end:
        return 0
    return None if first else end


def _is_known_first(changed: Changed) -> bool:
    """True if the changed step can be computed before the rest of the body, without the axis."""
    step, body = changed.step, changed.nest.body.block
    if step is None:
        return True
    ahead = [*_ahead(changed)]
    around = changed.nest.parent_block()
    while around is not None and step.owner is not around and step.owner.parent is not around:
        around = around.parent_block()
    is_outside = around is not None
    made_here = isinstance(step.owner, loop.ToIndexOp) and step.owner.parent is body
    uses_axis = any(changed.axis in op.operands or op.regions for op in ahead)
    return (is_outside or made_here) and not uses_axis


def _ahead(changed: Changed) -> Iterator[Operation]:
    """Yield the ops of the loop body that compute the changed step, in order."""
    needed = set[Operation]()
    body = changed.nest.body.block
    pending = [] if changed.step is None else [changed.step]
    while pending:
        op = pending.pop().owner
        if isinstance(op, Operation) and op.parent is body and op not in needed:
            needed.add(op)
            pending += op.operands
    return (op for op in body.ops if op in needed)


def keep_changes(changed: Changed) -> None:
    """Rewrite the kernel to run only the steps that change something."""
    nest, axis, step = changed.nest, changed.axis, changed.step
    ahead = [*_ahead(changed)]
    _select_new(changed)
    extents: list[int] = [*nest.axis_extents()]
    axes: list[AffineExpr] = [AffineDimExpr(position) for position in range(len(extents))]
    if step is None:
        extents[axis.index] = changed.steps
    else:
        _move_ahead(ahead, nest.body.block)
        axis.name_hint = None
        axis.replace_all_uses_with(step)
        del extents[axis.index]
        axes[axis.index :] = [AffineConstantExpr(0), *axes[axis.index : -1]]
    if extents:
        replace_nest(nest, over_axes(nest, extents, axes))
    else:
        _unwrap(nest)


def _select_new(changed: Changed) -> None:
    """Replace each selection by its new value, and erase the ops that only the selections used."""
    condition = changed.stores[0].select.cond.owner
    assert isinstance(condition, Operation)
    unused = [op for copied in changed.stores for op in (copied.select, copied.old)]
    for copied in changed.stores:
        copied.select.result.replace_all_uses_with(copied.select.lhs)
    for op in [*unused, condition, *(value.owner for value in condition.operands)]:
        if isinstance(op, Operation) and is_pure(op) and not any(r.uses for r in op.results):
            Rewriter.erase_op(op)


def _move_ahead(ops: Sequence[Operation], block: Block) -> None:
    """Move ops to the beginning of their block."""
    for op in reversed(ops):
        op.detach()
        assert block.first_op is not None
        block.insert_op_before(op, block.first_op)


def _unwrap(nest: loop.ForOp) -> None:
    """Replace a loop of one step by its body."""
    assert nest.parent is not None
    for op in tuple(nest.body.block.ops):
        op.detach()
        nest.parent.insert_op_before(op, nest)
    Rewriter.erase_op(nest)
