# SPDX-License-Identifier: Apache-2.0
"""
Slabs for values that threads hold when they reach a loop. The stages inside the loop read them.

    %max = tile.combine %p across %tn with max : f32      held by the threads of each row

becomes, with coordinates for the axes along which it differs,

    %maxs = tile.share %max at [%tm] : memref<64xf32, 3 : i64>
"""

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from tilewright.dialects import tile
from tilewright.dialects.axes import Access, extent_of
from tilewright.dialects.index import delinearize, linearize

Coordinate = tuple[SSAValue, ...]
"""Axes that form one number together; the last axis is the fastest."""


def extents_of(coordinate: Coordinate) -> list[int]:
    """Return the number of steps of each axis of a coordinate."""
    return [extent_of(axis) or 1 for axis in coordinate]


def subscripts_of(coordinates: Sequence[Coordinate]) -> Access:
    """Return the subscript of each coordinate: the number that its axes form."""
    exprs: list[AffineExpr] = []
    operands: list[SSAValue] = []
    for coordinate in coordinates:
        dims = [AffineExpr.dimension(len(operands) + at) for at in range(len(coordinate))]
        exprs.append(linearize(dims, extents_of(coordinate)))
        operands.extend(coordinate)
    return exprs, operands


class Part(NamedTuple):
    """Coordinate of a slab, or a single axis of one."""

    coordinate: Coordinate
    at: AffineExpr
    """
    Position of a slab's element along this part, as an expression over the slab's coordinates.
    """


def parts_along(axes: frozenset[SSAValue], slab: Sequence[Coordinate]) -> list[Part]:
    """
    Return the parts of a slab's coordinates along `axes`: whole coordinates, or single axes of
    them.
    """
    found: list[Part] = []
    for position, coordinate in enumerate(slab):
        at = AffineExpr.dimension(position)
        if axes.issuperset(coordinate):
            found.append(Part(coordinate, at))
            continue
        steps = zip(coordinate, delinearize(at, extents_of(coordinate)), strict=True)
        found += [Part((axis,), step) for axis, step in steps if axis in axes]
    return found


class Shares:
    """Cache of the `tile.share` ops of one launch; each is inserted once."""

    def __init__(self, rewriter: PatternRewriter) -> None:
        self._rewriter = rewriter
        self._shares: dict[tuple[SSAValue, tuple[Coordinate, ...]], tile.ShareOp] = {}

    def slab(self, value: SSAValue, coordinates: Sequence[Coordinate]) -> SSAValue:
        """
        Return the slab that shares `value` among the threads of a block, with these coordinates.
        Insert a `tile.share` if there is none yet.
        """
        key = value, tuple(coordinates)
        if key not in self._shares:
            assert isinstance(value.owner, Operation)
            after = InsertPoint.after(value.owner)
            self._shares[key] = self._rewriter.insert(_share(value, coordinates), after)
        return self._shares[key].slab


def _share(value: SSAValue, coordinates: Sequence[Coordinate]) -> tile.ShareOp:
    exprs, operands = subscripts_of(coordinates)
    extents = [prod(extents_of(coordinate)) for coordinate in coordinates]
    slab = MemRefType(value.type, extents or [1], memory_space=tile.SHARED)
    share = tile.ShareOp(value, (exprs or [AffineExpr.constant(0)], operands), slab)
    assert isinstance(value.owner, Operation)
    share.location = value.owner.location
    share.slab.name_hint = _name(value)
    return share


def _name(value: SSAValue) -> str | None:
    """
    Return the name of the value with an `s`. If it has none, take the name of its first operand, or
    the first operand of that, and so on.
    """
    while value.name_hint is None:
        if not isinstance(value.owner, Operation) or not value.owner.operands:
            return None
        value = value.owner.operands[0]
    return f"{value.name_hint}s"
