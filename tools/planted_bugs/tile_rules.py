# SPDX-License-Identifier: Apache-2.0
"""
Bugs of Loop and Tile IR, planted by rule: dropped combines, other joins, loops and launches of one
step more or less, digits and operands in another order.

Bugs of masks, and accesses one element further, are those of `codegen.mutations`.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations

from xdsl.dialects import arith
from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, IntegerAttr, i64
from xdsl.ir import Operation
from xdsl.ir.affine import AffineExpr, AffineMap

from tilewright.codegen.mutations import Mutation
from tilewright.codegen.mutations.mutation import Rules, insert_before
from tilewright.dialects.kernel.registers import LOCAL
from tilewright.dialects.loop import LoadOp, ReduceOp, StoreOp
from tilewright.dialects.monoid import Monoid, MonoidAttr
from tilewright.dialects.tile import AxisAttr, CombineOp, LaunchOp, ShareOp
from tilewright.dialects.types import memref_type

_OTHER_JOIN = {
    Monoid.ADD: Monoid.MAX,
    Monoid.MUL: Monoid.ADD,
    Monoid.MAX: Monoid.MIN,
    Monoid.MIN: Monoid.MAX,
}


def _fewer_combined(op: CombineOp) -> Iterator[Mutation]:
    """Yield the combination left out, and without one of its axes."""
    yield Mutation("combination left out", _leave_out)
    if len(op.axes) > 1:
        for number in range(len(op.axes)):
            yield Mutation(f"axis {number} not combined", partial(_drop_axis, number=number))


def _leave_out(op: Operation) -> None:
    assert isinstance(op, CombineOp)
    for result, value in zip(op.results, op.values, strict=True):
        result.replace_all_uses_with(value)
    op.detach()


def _drop_axis(op: Operation, *, number: int) -> None:
    assert isinstance(op, CombineOp)
    axes = [axis for at, axis in enumerate(op.axes) if at != number]
    join = None if op.join is None else op.join.data
    new = CombineOp(op.values, axes, op.monoid, op.where, join)
    insert_before(op, new)
    for result, other in zip(op.results, new.results, strict=True):
        result.replace_all_uses_with(other)
    op.detach()


def _other_join(op: CombineOp | ReduceOp) -> Iterator[Mutation]:
    if (other := _OTHER_JOIN.get(op.monoid.data)) is not None:
        yield Mutation(f"joined by {other}", partial(_join_by, monoid=other))


def _join_by(op: Operation, *, monoid: Monoid) -> None:
    op.properties["monoid"] = MonoidAttr(monoid)


def _other_steps(op: ReduceOp) -> Iterator[Mutation]:
    """Yield a reduction of one step less or more, and bounds that are off by one."""
    for more, what in ((-1, "one step too few"), (1, "one step too many")):
        yield Mutation(what, partial(_add_steps, more=more))
    for bound in ("lower_bound", "upper_bound"):
        if getattr(op, bound) is not None:
            for more in (-1, 1):
                what = f"{bound.replace('_', ' ')} off by {more}"
                yield Mutation(what, partial(_move_bound, bound=bound, more=more))


def _add_steps(op: Operation, *, more: int) -> None:
    assert isinstance(op, ReduceOp)
    op.extent = IntegerAttr(op.extent.value.data + more, i64)


def _move_bound(op: Operation, *, bound: str, more: int) -> None:
    map = op.properties[bound]
    assert isinstance(map, AffineMapAttr)
    results = tuple(result + more for result in map.data.results)
    op.properties[bound] = AffineMapAttr(AffineMap(map.data.num_dims, 0, results))


def _fewer_of_launch(op: LaunchOp) -> Iterator[Mutation]:
    """Yield the launch with one step less of an axis."""
    for number, extent in enumerate(op.axis_extents()):
        if extent > 1:
            what = f"axis {number} one step too few"
            yield Mutation(what, partial(_shorten_axis, number=number))


def _shorten_axis(op: Operation, *, number: int) -> None:
    assert isinstance(op, LaunchOp)
    axes = [*op.axes.data]
    old = axes[number]
    axes[number] = AxisAttr.get(old.level.data, old.extent.data - 1, old.role.data)
    op.axes = ArrayAttr(axes)


def _other_order(op: LoadOp | StoreOp | ShareOp) -> Iterator[Mutation]:
    """Yield subscripts in which two axes are exchanged, and a load that misses one axis."""
    if not isinstance(op, ShareOp) and memref_type(op.memref).memory_space == LOCAL:
        return
    count = op.map.data.num_dims
    for one, other in combinations(range(count), 2):
        dims = [AffineExpr.dimension(dim) for dim in range(count)]
        dims[one], dims[other] = dims[other], dims[one]
        yield Mutation(f"axes {one} and {other} exchanged", partial(_rename, dims=dims))
    for one in range(count if isinstance(op, LoadOp) else 0):
        dims = [AffineExpr.dimension(dim) for dim in range(count)]
        dims[one] = AffineExpr.constant(0)
        yield Mutation(f"axis {one} not in the subscripts", partial(_rename, dims=dims))


def _rename(op: Operation, *, dims: Sequence[AffineExpr]) -> None:
    """Replace the dimensions of the subscripts by expressions of them."""
    map = op.properties["map"]
    assert isinstance(map, AffineMapAttr)
    results = tuple(result.replace_dims_and_symbols(dims, ()) for result in map.data.results)
    op.properties["map"] = AffineMapAttr(AffineMap(map.data.num_dims, 0, results))


def _other_operands(op: Operation) -> Iterator[Mutation]:
    if op.operands[0] is not op.operands[1]:
        yield Mutation("operands exchanged", _exchange_operands)


def _exchange_operands(op: Operation) -> None:
    op.operands[0], op.operands[1] = op.operands[1], op.operands[0]


MAPS: Rules = {LoadOp: (_other_order,), StoreOp: (_other_order,), ShareOp: (_other_order,)}
BOUNDS: Rules = {ReduceOp: (_other_steps,), LaunchOp: (_fewer_of_launch,)}
ORDERS: Rules = {arith.SubfOp: (_other_operands,), arith.DivfOp: (_other_operands,)}
COMBINES: Rules = {CombineOp: (_fewer_combined, _other_join), ReduceOp: (_other_join,)}
