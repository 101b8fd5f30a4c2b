# SPDX-License-Identifier: Apache-2.0
"""
Slabs that hold a value for all threads of a block.

    loop.load %x[%bm * 16 + %tm, %ko * 16 + %ki]    depends on %tm and %ki within the block

becomes a slab, with coordinates for these axes,

    tile.stage (%i, %k) in [16, 16] { loop.load %x[%bm * 16 + %i, %ko * 16 + %k] ... }

and a load `%slab[%tm, %ki]`. Axes that all ops use as one number are one coordinate: `%sm * 64 +
%tm * 4 + %vm` is a coordinate of 128. The coordinates have the order in which the value's source
lies in memory. Elements that are adjacent there are therefore adjacent in the slab.

Values that threads hold of a row, such as its maximum, are read from slabs of their own
(`held_values`).
"""

from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import chain, permutations
from math import inf, prod

from xdsl.dialects.builtin import IndexType, MemRefType
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import (
    Access,
    MaskedOp,
    Role,
    cached_ranges,
    canonical_access,
    extent_of,
    optional_mask,
    range_of_value,
)
from tilewright.dialects.index import Range, linearize, simplify
from tilewright.dialects.tile.attributes import Level
from tilewright.dialects.tile.launch import launch_of
from tilewright.dialects.types import memref_of, memref_type
from tilewright.passes.facts.affine_values import values_at
from tilewright.passes.rewriting.simplify_accesses import simplify_accesses
from tilewright.passes.rewriting.substitution import Substitution
from tilewright.passes.tile.block_values import BlockValues, expressions_of
from tilewright.passes.tile.held_values import (
    Coordinate,
    Shares,
    extents_of,
    parts_along,
    subscripts_of,
)

_ZERO = AffineExpr.constant(0)

_ALONG_K = (Role.K, Role.FREE)
_NAMES = {Role.N: "j", Role.K: "k"}

_LONG_RUN = 64
"""Most steps of a coordinate that are examined for a constant stride."""


class Slab:
    """Slab that holds `value` for all threads of a block, in the order in which `source` reads."""

    def __init__(self, value: SSAValue, source: loop.LoadOp, values: BlockValues):
        axes = values.axes_of(value)
        assert axes is not None
        self.value, self._ops = value, values.ops_of(value)
        merged = _merged([(axis,) for axis in values.in_order(axes)], self._ops)
        self._coordinates = sorted(merged, key=lambda c: _memory_order(c, source), reverse=True)
        parts = {held: values.axes_of(held) or frozenset() for held in values.held_by(value)}
        self._held = {held: parts_along(axes, self._coordinates) for held, axes in parts.items()}
        """
        Values that threads hold, with the parts of the slab's coordinates along which each differs.
        """

    @cached_property
    def type(self) -> MemRefType:
        """Type of the slab, stored densely in the order of its coordinates."""
        extents = tuple(prod(extents_of(coordinate)) for coordinate in self._coordinates)
        return memref_of(self.value.type, extents, tile.SHARED)

    @property
    def subscripts(self) -> Access:
        """Subscripts of the value in the slab."""
        return subscripts_of(self._coordinates)

    def is_equal(self, other: "Slab") -> bool:
        """True if the same computation fills both slabs."""
        if self.type != other.type or self._reads() != other._reads():
            return False
        return self._filling == other._filling

    @cached_property
    def _filling(self) -> Hashable:
        """
        Hashable key of the computation that fills the slab. Slabs with equal keys hold equal
        values, because coordinates and results are numbered instead of named.
        """
        numbers: dict[SSAValue, int] = {c[-1]: at for at, c in enumerate(self._coordinates)}
        substitution = Substitution()
        self._substitute_zeros(substitution)
        found: list[Hashable] = []
        for held, parts in self._held.items():
            numbers[held] = len(numbers)
            found.append((held, *parts))
        ranges = {c[-1]: Range.extent(prod(extents_of(c))) for c in self._coordinates}
        with cached_ranges(ranges):
            for op in self._ops:
                found.append(_computation(op, substitution, numbers))
                for result in op.results:
                    numbers[result] = len(numbers)
        return *found, numbers.get(self.value, self.value)

    def _substitute_zeros(self, substitution: Substitution) -> None:
        """
        Substitute 0 for axes of one step, and for all axes of a coordinate except the last. The
        last axis stands for the coordinate.
        """
        last = {coordinate[-1] for coordinate in self._coordinates}
        short = (v for op in self._ops for v in op.operands if extent_of(v) == 1)
        axes = (axis for axis in chain(short, *self._coordinates) if axis not in last)
        substitution.indices.update({axis: (_ZERO, ()) for axis in axes})

    def _reads(self) -> Sequence[SSAValue | str]:
        """
        Return the arrays and the names of ops from which the slab is computed, without subscripts.
        """
        return [op.memref if isinstance(op, loop.LoadOp) else op.name for op in self._ops]

    def stage(self, shares: Shares) -> tile.StageOp:
        """Return a stage that fills the slab; it is not in the IR yet."""
        coordinates = self._coordinates
        body = Block(arg_types=[IndexType()] * len(coordinates))
        substitution = Substitution()
        self._substitute_zeros(substitution)
        for argument, coordinate in zip(body.args, coordinates, strict=True):
            argument.name_hint = _NAMES.get(_role(coordinate[-1]), "i")
            substitution.indices[coordinate[-1]] = (AffineExpr.dimension(0), (argument,))
        if len(coordinates) == 1:
            body.args[0].name_hint = "i"
        for held, parts in self._held.items():
            slab = shares.slab(held, [part.coordinate for part in parts])
            load = loop.LoadOp(slab, ([part.at for part in parts] or [_ZERO], [*body.args]))
            body.add_op(load)
            substitution.values[held] = load.result
        body.add_ops(substitution.clone(op) for op in self._ops)
        body.add_op(loop.YieldOp([substitution.value(self.value)]))
        stage = tile.StageOp(list(self.type.get_shape()), Region(body))
        stage.yield_op.values[0].name_hint = None  # the value that the slab replaces has this name
        stage.location = self._ops[-1].location
        # only now do the coordinates have ranges
        simplify_accesses(stage)
        return stage


_PROPERTIES_OF_AXES = {"map", "mask", "operandSegmentSizes"}
"""
Names of op properties that depend on axes: subscripts, masks and the numbers of their operands.
"""


def _computation(
    op: Operation, substitution: Substitution, numbers: Mapping[SSAValue, int]
) -> Hashable:
    """
    Return a hashable key of what an op of a stage computes, with the elements that it reads;
    `numbers` stand for values.
    """
    found: list[tuple[Hashable, Sequence[SSAValue]]] = []
    if isinstance(op, loop.LoadOp | loop.IndexOp | loop.PredicateOp):
        found.append(canonical_access(*substitution.access(op.map.data.results, op.indices)))
    if isinstance(op, MaskedOp):
        indices, mask = optional_mask(substitution.mask(op))
        found.append((mask, indices))
    others = [v for v in op.operands if not found or not isinstance(v.type, IndexType)]
    properties = [(name, p) for name, p in op.properties.items() if name not in _PROPERTIES_OF_AXES]
    used = [*found, (op.name, others)]
    where = [(what, *(numbers.get(v, v) for v in values)) for what, values in used]
    return *where, frozenset(properties), *op.result_types


def _role(axis: SSAValue) -> Role:
    """Return the role of an axis of the launch; axes of loops have role K."""
    launch = launch_of(axis)
    if launch is None or not isinstance(axis, BlockArgument):
        return Role.K
    role = launch.axes.data[axis.index].role.data
    return Role.K if role in _ALONG_K else role


def _is_free(axis: SSAValue) -> bool:
    """True if `axis` is a register axis of the launch without a role."""
    launch = launch_of(axis)
    if launch is None or not isinstance(axis, BlockArgument):
        return False
    bound = launch.axes.data[axis.index]
    return bound.level.data is Level.REGISTER and bound.role.data is Role.FREE


def _merged(coordinates: list[Coordinate], ops: Sequence[Operation]) -> list[Coordinate]:
    """
    Return the coordinates, merged if they have one role and the ops use them as one number. Steps
    of a free register axis may count elements of any role.
    """
    for outer, inner in permutations(coordinates, 2):
        both = (*outer, *inner)
        is_of_one_role = _is_free(outer[0]) or _role(outer[0]) is _role(inner[0])
        if is_of_one_role and all(_is_one_number(both, op) for op in ops):
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
    """
    True if `expr` is unchanged by replacing the last axis of the coordinate with the number that
    its axes form, and the other axes with 0.
    """
    values = list(dict.fromkeys((*operands, *coordinate)))
    ranges = [range_of_value(value) for value in values]
    dims = {value: AffineExpr.dimension(at) for at, value in enumerate(values)}
    number = linearize([dims[axis] for axis in coordinate], extents_of(coordinate))
    instead = {**dims, **{axis: _ZERO for axis in coordinate}, coordinate[-1]: number}
    replaced = expr.replace_dims_and_symbols([instead[operand] for operand in operands], ())
    return simplify(replaced, ranges) == simplify(expr, ranges)


def _memory_order(coordinate: Coordinate, source: loop.LoadOp) -> tuple[float, int]:
    """
    Return a sort key: the stride of the source along a coordinate, infinite if the source does not
    use it, and the negated number of steps with this stride.
    """
    axis = coordinate[-1]
    if axis not in source.indices:
        return inf, 0
    type = memref_type(source.memref)
    offset = tile.layout_of(type).offset(source.map.data.results, type)
    return _stride(offset, [*source.indices].index(axis), prod(extents_of(coordinate)))


@lru_cache(maxsize=1 << 12)
def _stride(offset: AffineExpr, at: int, steps: int) -> tuple[int, int]:
    """
    Return the stride of a dimension, and the negated number of first steps that have this stride.
    """
    dims = max(offset.used_dims(), default=0) + 1
    along = [AffineExpr.dimension(0) if n == at else _ZERO for n in range(dims)]
    line = simplify(offset.replace_dims_and_symbols(along, ()), [Range.extent(steps)])
    points = range(max(2, min(steps, _LONG_RUN)))
    first, second, *rest = values_at(line, [points], len(points))
    stride, run = second - first, 2
    for place in rest:
        if place != first + stride * run:
            break
        run += 1
    return abs(stride), -run
