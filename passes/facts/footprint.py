# SPDX-License-Identifier: Apache-2.0
"""
Number of elements that an access touches, and of runs of a guarded op, from the ranges of indices.

A mask `expr >= 0` is assumed to hold for the share of the range of `expr` that is not negative, by
equal frequency of all values. The assumption is exact for a split axis (`999 - b * 128 - t`). In
the same way, the bound of a loop is assumed to take each value of its range equally often.
"""

from collections.abc import Iterable, Iterator, Sequence
from math import prod

from xdsl.dialects import arith, scf
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from tilewright.dialects import kernel, loop
from tilewright.dialects.axes import MaskedOp, range_of_value
from tilewright.dialects.index import Range, range_of, simplify
from tilewright.dialects.kernel.ring import TmaCopyOp
from tilewright.dialects.tile.layout import layout_of
from tilewright.dialects.types import memref_type, size_of
from tilewright.passes.facts.memory_access import Access
from tilewright.passes.facts.roles import index_sources

_DIFFERENCE = AffineMap(2, 0, (simplify(AffineExpr.dimension(0) - AffineExpr.dimension(1)),))
"""
Map of the upper bound of a loop whose first steps are left out, and whose counter starts at 0: end
minus first step.
"""

_UNKNOWN = 1 << 62
"""Size larger than that of any axis."""


def element_bytes(buffer: SSAValue) -> int:
    """Return the bytes of one element of a memref."""
    return size_of(memref_type(buffer).element_type)


def bytes_of(buffer: SSAValue) -> int:
    """Return the bytes of a memref, padding included."""
    type = memref_type(buffer)
    return layout_of(type).size(type) * element_bytes(buffer)


def elements_touched(access: loop.LoadOp | loop.StoreOp | Access) -> int:
    """
    Return an upper estimate of the distinct elements that an access touches in a whole launch.
    """
    type = memref_type(access.memref)
    extents = [1] * type.get_num_dims()
    if isinstance(access, Access) and access.width > 1:
        extents[layout_of(type).innermost(type)] = access.width
    return _touched(access.memref, access.map.data, access.indices, extents)


def elements_of_box(op: TmaCopyOp) -> int:
    """
    Return an upper estimate of the distinct elements that a box copy touches in a whole launch.
    """
    return _touched(op.source, op.map.data, op.indices, op.box.get_values())


def box_within(op: TmaCopyOp) -> list[int]:
    """Return the extents of a box, limited to the extents of the tensor that it is copied from."""
    shape = memref_type(op.source).get_shape()
    return [min(pair) for pair in zip(op.box.get_values(), shape, strict=True)]


def _touched(
    memref: SSAValue, map: AffineMap, indices: Sequence[SSAValue], extents: Sequence[int]
) -> int:
    """Return an upper estimate of the distinct elements of boxes of `extents` at the subscripts."""
    shape = memref_type(memref).get_shape()
    ranges = [range_of_value(index) for index in indices]
    sources = [range_of_value(source) for source in index_sources(indices)]
    points = prod(_width(known, _UNKNOWN) for known in sources)
    box = prod(
        min(_width(range_of(expr, ranges), size) + extent - 1, size)
        for expr, size, extent in zip(map.results, shape, extents, strict=True)
    )
    return min(points * prod(extents), box)


def _width(known: Range | None, unknown: int) -> int:
    return unknown if known is None else known.high - known.low + 1


def share_of_mask(op: Operation) -> float:
    """Return the fraction of its runs in which the mask of `op` holds; 1 without a mask."""
    if not isinstance(op, MaskedOp) or op.mask is None:
        return 1.0
    return _share(op.mask.data, op.mask_operands)


def share_of_condition(condition: SSAValue) -> float:
    """Return the share of runs in which a condition holds; 1 if it is not a `loop.predicate`."""
    if not isinstance(predicate := condition.owner, loop.PredicateOp):
        return 1.0
    return _share(predicate.map.data, predicate.indices)


def _share(map: AffineMap, operands: Sequence[SSAValue]) -> float:
    ranges = [range_of_value(operand) for operand in operands]
    return prod(_share_of(range_of(expr, ranges)) for expr in map.results)


def _share_of(known: Range | None) -> float:
    if known is None:
        return 1.0
    return min(max(known.high + 1, 0) / (known.high - known.low + 1), 1.0)


def steps_of(op: loop.ReduceOp) -> float:
    """
    Return the average number of steps of a reduction: those below its extent and within its bounds.
    """
    ranges = [range_of_value(operand) for operand in op.bound_operands]
    starts, ends = (
        [range_of(expr, ranges) for expr in bound.data.results] if bound else []
        for bound in (op.lower_bound, op.upper_bound)
    )
    return _steps_between(starts, ends, op.axis_extents()[0])


def _steps_between(
    starts: Iterable[Range | None], ends: Iterable[Range | None], steps: int
) -> float:
    """
    Return the average number of the `steps` that are at or after all `starts` and below all `ends`.
    Each bound is given by the range of its values, or None if that is unknown.
    """
    most = steps * prod(_steps_below(end, steps) / max(steps, 1) for end in ends)
    skipped = (0 if start is None else _steps_below(start, steps) for start in starts)
    return max(most - max(skipped, default=0), 0)


def trips(op: scf.ForOp) -> float:
    """
    Return the average trip count of a loop, for bounds that take each value of their ranges equally
    often; 1 if the bounds are unknown.
    """
    index, step = range_of_value(op.body.block.args[0]), range_of_value(op.step)
    if index is None or step is None:
        return 1
    if step.high > 1 or index.low > 0:
        return -(-_width(index, 1) // max(step.low, 1))
    end, first = op.ub, op.lb
    if isinstance(op.ub.owner, kernel.IndexOp) and op.ub.owner.map.data == _DIFFERENCE:
        end, first = op.ub.owner.indices
    ends, starts = _chosen_of(end, arith.MinSIOp), _chosen_of(first, arith.MaxSIOp)
    return _steps_between(map(range_of_value, starts), map(range_of_value, ends), index.high + 1)


def _chosen_of(value: SSAValue, choice: type[arith.MinSIOp | arith.MaxSIOp]) -> Iterator[SSAValue]:
    """
    Yield the operands of the nested minima or maxima (ops of class `choice`) that compute `value`;
    `value` itself if it is none.
    """
    if not isinstance(value.owner, choice):
        yield value
        return
    for operand in value.owner.operands:
        yield from _chosen_of(operand, choice)


def _steps_below(bound: Range | None, steps: int) -> float:
    """
    Return the average number of `steps` below a bound that takes each value of its range equally
    often.
    """
    if bound is None:
        return steps
    low, high = (min(max(limit, 0), steps) for limit in bound)
    of_some = (low + high) * (high - low + 1) / 2
    of_all = max(bound.high - max(bound.low, steps), 0) * steps
    return (of_some + of_all) / (bound.high - bound.low + 1)
