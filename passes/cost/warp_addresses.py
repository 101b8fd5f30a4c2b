# SPDX-License-Identifier: Apache-2.0
"""
The addresses that the lanes of a warp access, from subscripts alone.

The warp is warp 0 of block 0, in the first step of every loop. Subscripts are affine, so that other
warps and steps only shift the addresses. The addresses include the effect of layouts: order,
padding, swizzles.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import prod
from typing import NamedTuple

from xdsl.dialects import scf
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr
from xdsl.ir import BlockArgument, SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import kernel, loop, tile
from tilewright.dialects.axes import MaskedOp
from tilewright.dialects.target import WARP_SIZE
from tilewright.dialects.tile.attributes import AxisAttr
from tilewright.dialects.tile.layout import SlabLayoutAttr, layout_of
from tilewright.dialects.types import memref_type, size_of
from tilewright.passes.facts.affine_values import values_at
from tilewright.passes.facts.memory_access import Access


def warp_addresses(
    access: Access, threads: int, layout: SlabLayoutAttr | None = None
) -> tuple[int | None, ...]:
    """
    Return the first byte that each lane accesses, as an offset in the memref; None for a lane that
    masks or conditions disable. If they disable all lanes they are ignored, since another warp or
    step passes them. A given `layout` replaces that of the memref.
    """
    type, lanes = memref_type(access.memref), min(threads, WARP_SIZE, access.lanes)
    layout, size = layout or layout_of(type), size_of(type.element_type)
    offset = layout.offset(access.map.data.results, type)
    places = _Expressions((offset,), _indices(access.indices, lanes), lanes)
    guards = (_Expressions(exprs, _indices(on, lanes), lanes) for exprs, on in _guards(access))
    return _addresses(places, tuple(guards), layout, size)


class _Expressions(NamedTuple):
    """Affine expressions, with the value of each dimension in each lane."""

    exprs: tuple[AffineExpr, ...]
    indices: tuple[Sequence[int], ...]
    lanes: int

    def values(self) -> list[Sequence[int]]:
        """Return the value of each expression in each lane."""
        return [values_at(expr, self.indices, self.lanes) for expr in self.exprs]


@lru_cache(maxsize=1 << 12)  # slabs are read in the same ways again and again
def _addresses(
    places: _Expressions, guards: tuple[_Expressions, ...], layout: SlabLayoutAttr, size: int
) -> tuple[int | None, ...]:
    (offsets,) = places.values()
    addresses = [layout.swizzled(offset * size) for offset in offsets]
    conditions = [values for guard in guards for values in guard.values()]
    acts = [all(value >= 0 for value in values) for values in zip(*conditions, strict=True)]
    if not any(acts):
        return (*addresses,)
    return tuple([at if act else None for at, act in zip(addresses, acts, strict=True)])


def _guards(access: Access) -> Iterator[tuple[tuple[AffineExpr, ...], Sequence[SSAValue]]]:
    """
    Yield the mask of an access and the conditions around it: expressions that must not be negative.
    """
    inner = access.op
    if isinstance(inner, MaskedOp) and inner.mask is not None and access.skips_where_masked:
        yield inner.mask.data.results, inner.mask_operands
    while (outer := inner.parent_op()) is not None:
        if isinstance(outer, scf.IfOp) and inner.parent_region() is outer.true_region:
            if isinstance(predicate := outer.cond.owner, loop.PredicateOp):
                yield predicate.map.data.results, predicate.indices
        inner = outer


def _indices(values: Sequence[SSAValue], lanes: int) -> tuple[Sequence[int], ...]:
    """Return the value of each index in each lane."""
    return tuple([_index(value, lanes) for value in values])


def _index(value: SSAValue, lanes: int) -> Sequence[int]:
    """Return the value of an index in each lane: thread axes and ids by lane, all others 0."""
    if isinstance(value, BlockArgument):
        launch = tile.launch_of(value)
        return _same(0, lanes) if launch is None else _along(launch.axes, value.index, lanes)
    match value.owner:
        case kernel.ThreadIdOp():
            return range(lanes)
        case kernel.IndexOp() as op:
            map = op.map.data
            (index,) = _Expressions(map.results, _indices(op.indices, lanes), lanes).values()
            return tuple(index)
        case ConstantOp(value=IntegerAttr() as constant):
            return _same(constant.value.data, lanes)
        case _:
            return _same(0, lanes)


@lru_cache(maxsize=1 << 10)
def _same(index: int, lanes: int) -> Sequence[int]:
    return (index,) * lanes


@lru_cache(maxsize=1 << 10)
def _along(axes: ArrayAttr[AxisAttr], at: int, lanes: int) -> Sequence[int]:
    """
    Return the step of each lane along the axis `axes[at]` of a launch; 0 for axes that are not
    bound to threads.
    """
    if not axes.data[at].level.data.is_thread:
        return _same(0, lanes)
    faster = [axis for axis in axes.data[at + 1 :] if axis.level.data.is_thread]
    threads, extent = prod(axis.extent.data for axis in faster), axes.data[at].extent.data
    return tuple([lane // threads % extent for lane in range(lanes)])
