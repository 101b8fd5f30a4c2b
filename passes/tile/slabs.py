# SPDX-License-Identifier: Apache-2.0
"""
Slabs that hold a value for all of a block.

    loop.load %x[%bm * 16 + %tm, %ko * 16 + %ki]    depends on %tm and %ki within the block

is, as a slab over coordinates that stand for them,

    tile.stage (%i, %k) in [16, 16] { loop.load %x[%bm * 16 + %i, %ko * 16 + %k] ... }

and what was loaded is `%slab[%tm, %ki]`. Axes that occur as one number only are one coordinate:
`%sm * 64 + %tm * 4 + %vm` is one of 128. The coordinates stand in the order in which the value's
source lies in memory, so that what is side by side there is so in the slab.
"""

from collections.abc import Sequence
from itertools import permutations
from math import inf, prod
from typing import NamedTuple

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.pattern_rewriter import PatternRewriteWalker

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Access, Role, extent_of, range_of_value
from tilewright.dialects.index import linearize, simplify
from tilewright.dialects.tile_launch import launch_of
from tilewright.dialects.types import memref_type
from tilewright.passes.loop.simplify_accesses import SimplifyAccesses
from tilewright.passes.substitution import Substitution
from tilewright.passes.tile.block_values import BlockValues, expressions_of

_ZERO = AffineExpr.constant(0)

_ALONG_K = (Role.K, Role.FREE)
_NAMES = {Role.N: "j", Role.K: "k"}

Coordinate = tuple[SSAValue, ...]
"""Axes that are one number together, the last of them fastest."""


class Slab(NamedTuple):
    """A stage that holds a value, which is not in the IR yet, and where in it the value is."""

    stage: tile.StageOp
    subscripts: Access


def slab_of(value: SSAValue, source: loop.LoadOp, values: BlockValues) -> Slab:
    """The slab that holds `value`, ordered as `source` reads."""
    axes = values.axes_of(value)
    assert axes is not None
    ops = values.ops_of(value)
    coordinates = _merged([(axis,) for axis in values.in_order(axes)], ops)
    coordinates = sorted(coordinates, key=lambda c: _closeness(c, source), reverse=True)
    body = Block(arg_types=[IndexType()] * len(coordinates))
    substitution = Substitution()
    for axis in (operand for op in ops for operand in op.operands):
        if extent_of(axis) == 1:
            substitution.indices[axis] = (_ZERO, ())
    for argument, coordinate in zip(body.args, coordinates, strict=True):
        role = _role(coordinate[-1])
        argument.name_hint = _NAMES.get(role, "i") if len(coordinates) > 1 else "i"
        for axis in coordinate[:-1]:
            substitution.indices[axis] = (_ZERO, ())
        substitution.indices[coordinate[-1]] = (AffineExpr.dimension(0), (argument,))
    body.add_ops(substitution.clone(op) for op in ops)
    body.add_op(loop.YieldOp([substitution.value(value)]))
    stage = tile.StageOp([prod(_extents(c)) for c in coordinates], Region(body))
    stage.yield_op.values[0].name_hint = None  # that is what the value is called
    assert isinstance(value.owner, Operation)
    stage.location = value.owner.location
    # only now do the coordinates have ranges
    PatternRewriteWalker(SimplifyAccesses(), apply_recursively=False).rewrite_region(stage.body)
    return Slab(stage, _subscripts(coordinates))


def _extents(coordinate: Coordinate) -> list[int]:
    return [extent_of(axis) or 1 for axis in coordinate]


def _role(axis: SSAValue) -> Role:
    """The role of an axis of the launch; loops run along K."""
    launch = launch_of(axis)
    roles = [] if launch is None else [a.role for a in launch.bound_axes() if a.value is axis]
    return roles[0] if roles and roles[0] not in _ALONG_K else Role.K


def _subscripts(coordinates: Sequence[Coordinate]) -> Access:
    exprs: list[AffineExpr] = []
    operands: list[SSAValue] = []
    for coordinate in coordinates:
        dims = [AffineExpr.dimension(len(operands) + at) for at in range(len(coordinate))]
        exprs.append(linearize(dims, _extents(coordinate)))
        operands.extend(coordinate)
    return exprs, operands


def _merged(coordinates: list[Coordinate], ops: Sequence[Operation]) -> list[Coordinate]:
    """With coordinates of one role made one where the ops use them as one number."""
    for outer, inner in permutations(coordinates, 2):
        both = (*outer, *inner)
        if _role(outer[0]) is _role(inner[0]) and all(_is_one_number(both, op) for op in ops):
            rest = [c for c in coordinates if c not in (outer, inner)]
            return _merged([both, *rest], ops)
    return coordinates


def _is_one_number(coordinate: Coordinate, op: Operation) -> bool:
    return all(
        _is_function_of_number(coordinate, expr, operands)
        for expr, operands in expressions_of(op)
        if not set(coordinate).isdisjoint(operands)
    )


def _is_function_of_number(
    coordinate: Coordinate, expr: AffineExpr, operands: Sequence[SSAValue]
) -> bool:
    """Whether nothing changes when the number stands for the last axis, and 0 for the others."""
    values = list(dict.fromkeys((*operands, *coordinate)))
    ranges = [range_of_value(value) for value in values]
    dims = {value: AffineExpr.dimension(at) for at, value in enumerate(values)}
    number = linearize([dims[axis] for axis in coordinate], _extents(coordinate))
    instead = {**dims, **{axis: _ZERO for axis in coordinate}, coordinate[-1]: number}
    replaced = expr.replace_dims_and_symbols([instead[operand] for operand in operands], ())
    return simplify(replaced, ranges) == simplify(expr, ranges)


def _closeness(coordinate: Coordinate, source: loop.LoadOp) -> tuple[float, int]:
    """How far apart the source's elements are along a coordinate, and how long they are so."""
    if coordinate[-1] not in source.indices:
        return inf, 0
    type = memref_type(source.memref)
    offset = tile.layout_of(type).offset(source.map.data.results, type)
    first, second, *later = [
        offset.eval([step if index is coordinate[-1] else 0 for index in source.indices], ())
        for step in range(prod(_extents(coordinate)))
    ]
    stride, run = second - first, 2
    while run - 2 < len(later) and later[run - 2] == first + stride * run:
        run += 1
    return abs(stride), -run
