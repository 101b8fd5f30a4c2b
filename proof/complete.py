# SPDX-License-Identifier: Apache-2.0
"""
Obligations `complete`: each element of an output is stored, and each element of a slab is shared.

An output that the kernel updates keeps its contents where nothing is stored.
"""

from collections.abc import Sequence

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from tilewright.dialects.loop import KernelOp, StoreOp
from tilewright.dialects.tile import ShareOp
from tilewright.dialects.types import memref_type
from tilewright.proof.answer import Obligation
from tilewright.proof.covering import Covering, Way
from tilewright.proof.formulas import Variables, used_in, within
from tilewright.proof.points import Point, name_of


def complete_output(op: KernelOp, output: SSAValue, stores: Sequence[StoreOp]) -> Obligation:
    """Return the obligation that each element of an output is stored by one of `stores`."""
    shape, variables = memref_type(output).get_shape(), Variables()
    element = _element(variables, shape)
    given, ways = [within(element, shape)], list[Way]()
    for store in stores:
        at = Point(variables, store)
        subscripts, mask = at.exprs((store.map.data.results, store.indices)), at.holds(store.where)
        ways.append(Way(_positions([*at.axes.values()]), subscripts, [*at.steps, *mask]))
        given += at.values
    subject = f"elements of {name_of(output)}"
    return Covering("complete", subject, op, variables, shape, element, given, ways)


def complete_share(op: ShareOp) -> Obligation:
    """Return the obligation that, in each step of the other axes, each element is shared."""
    shape, variables = memref_type(op.slab).get_shape(), Variables()
    element, at = _element(variables, shape), Point(variables, op)
    subscripts = at.exprs((op.map.data.results, op.indices))
    chosen = _positions([expr for axis, expr in at.axes.items() if axis in op.indices])
    conditions = [fact for fact in at.steps if not used_in(fact).isdisjoint(chosen)]
    others = [fact for fact in at.steps if fact not in conditions]
    return Covering(
        *("complete", f"elements of {name_of(op.slab)}", op),
        variables=variables,
        shape=shape,
        element=element,
        given=[within(element, shape), *others],
        ways=[Way(chosen, subscripts, conditions)],
        outer=[expr for axis, expr in at.axes.items() if axis not in op.indices],
    )


def _element(variables: Variables, shape: Sequence[int]) -> list[AffineExpr]:
    return [variables.new(f"element {n}", size) for n, size in enumerate(shape)]


def _positions(exprs: Sequence[AffineExpr]) -> list[int]:
    return [expr.position for expr in exprs if isinstance(expr, AffineDimExpr)]
