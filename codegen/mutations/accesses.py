# SPDX-License-Identifier: Apache-2.0
"""Bugs of memory accesses: subscripts, widths and masks, and loops and branches around accesses."""

from collections.abc import Iterator
from functools import partial
from math import gcd

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import (
    AffineMapAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    i64,
)
from xdsl.ir import Operation
from xdsl.ir.affine import AffineExpr, AffineMap

from tilewright.codegen.mutations.mutation import Mutation, Rules, dropped, insert_before, is_local
from tilewright.dialects import kernel, loop
from tilewright.dialects.axes import MaskedOp
from tilewright.dialects.index import sum_of
from tilewright.dialects.kernel.copy import CopyingOp
from tilewright.dialects.tile.layout import SlabLayoutAttr
from tilewright.dialects.types import memref_type


def _dropped_store(op: loop.StoreOp) -> Iterator[Mutation]:
    return iter(()) if is_local(op.memref) else dropped(op)


def _sides(op: CopyingOp) -> Iterator[Mutation]:
    yield from subscripts("source", "source_map", op)
    yield from subscripts("target", "target_map", op)


def _wrong_width(op: CopyingOp) -> Iterator[Mutation]:
    if op.width.value.data > 1:
        yield Mutation("copies half", _halve)


def _halve(op: Operation) -> None:
    assert isinstance(op, CopyingOp)
    op.properties["width"] = IntegerAttr(op.width.value.data // 2, i64)


def subscripts(memref: str, map: str, op: Operation) -> Iterator[Mutation]:
    """
    Yield wrong subscripts of shared or global memory: in the next slot of a ring, and one access
    further along the last axis.

    The names `memref` and `map` are those of the op's operand and property.
    """
    type = memref_type(getattr(op, memref))
    if is_local(getattr(op, memref)):
        return
    results = getattr(op, map).data.results
    if _has_slots(type):
        slot = (results[0] + 1) % type.get_shape()[0]
        change = partial(set_result, map=map, number=0, result=slot)
        yield Mutation(f"{memref} in the slot after", change)
    further = results[-1] + _width(op)
    change = partial(set_result, map=map, number=len(results) - 1, result=further)
    yield Mutation(f"{memref} one further", change)


def _width(op: Operation) -> int:
    """Return the number of elements that a lane accesses in shared or global memory."""
    match op:
        case CopyingOp():
            return op.width.value.data
        case kernel.LoadMatrixOp():
            return op.row_elements
        case _:
            return 1


def _has_slots(type: MemRefType) -> bool:
    return isinstance(type.layout, SlabLayoutAttr) and type.layout.has_slots


def _mask(op: MaskedOp) -> Iterator[Mutation]:
    if op.mask is not None:
        yield from _conditions(op.mask.data, "mask")


def _predicate(op: loop.PredicateOp) -> Iterator[Mutation]:
    yield from _conditions(op.map.data, "map")


def _conditions(map: AffineMap, property: str) -> Iterator[Mutation]:
    """
    Yield, for each condition of a mask, its removal, and a bound that is too wide or too narrow by
    one step.
    """
    for number, expr in enumerate(map.results):
        step = _step(expr)
        changed = {
            "lost": AffineExpr.constant(0),
            "too wide by one": expr + step,
            "too narrow by one": expr - step,
        }
        for what, result in changed.items():
            change = partial(set_result, map=property, number=number, result=result)
            yield Mutation(f"condition {number} {what}", change)


def _step(expr: AffineExpr) -> int:
    """Return the greatest common divisor of the coefficients of an affine expression."""
    return gcd(*sum_of(expr).terms.values())


def set_result(op: Operation, *, map: str, number: int, result: AffineExpr) -> None:
    """Replace result `number` of the affine map in the op's property `map` by `result`."""
    attribute = op.properties[map]
    assert isinstance(attribute, AffineMapAttr)
    old = attribute.data
    results = (*old.results[:number], result, *old.results[number + 1 :])
    op.properties[map] = AffineMapAttr(AffineMap(old.num_dims, 0, results))


def _unguarded(op: scf.IfOp) -> Iterator[Mutation]:
    if not op.results and not op.false_region.blocks:
        yield Mutation("always taken", _take_branch)


def _take_branch(op: Operation) -> None:
    assert isinstance(op, scf.IfOp)
    for inner in [*op.true_region.block.ops][:-1]:
        inner.detach()
        insert_before(op, inner)
    op.detach()


def _wrong_trips(op: scf.ForOp) -> Iterator[Mutation]:
    """
    Yield a loop with one step too few. Yield also one step too many, unless the loop indexes an
    array of registers.
    """
    yield Mutation("one step too few", partial(_change_bound, more=-1))
    if not any(_accesses_registers(use.operation) for use in op.body.block.args[0].uses):
        yield Mutation("one step too many", partial(_change_bound, more=1))


def _accesses_registers(op: Operation) -> bool:
    return isinstance(op, loop.LoadOp | loop.StoreOp) and is_local(op.memref)


def _change_bound(op: Operation, *, more: int) -> None:
    assert isinstance(op, scf.ForOp)
    bound = op.ub.owner.value if isinstance(op.ub.owner, arith.ConstantOp) else None
    if isinstance(bound, IntegerAttr):
        end = arith.ConstantOp(IntegerAttr(bound.value.data + more, IndexType()))
    else:
        end = kernel.IndexOp(([AffineExpr.dimension(0) + more], [op.ub]))
    insert_before(op, end)
    op.operands[1] = end.result


ACCESSES: Rules = {
    CopyingOp: (_wrong_width, _sides),
    loop.LoadOp: (partial(subscripts, "memref", "map"),),
    loop.StoreOp: (_dropped_store, partial(subscripts, "memref", "map")),
    kernel.TmaCopyOp: (partial(subscripts, "source", "map"),),
    MaskedOp: (_mask,),
    loop.PredicateOp: (_predicate,),
    scf.IfOp: (_unguarded,),
    scf.ForOp: (_wrong_trips,),
}
