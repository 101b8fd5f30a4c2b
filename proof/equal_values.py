# SPDX-License-Identifier: Apache-2.0
"""
Conditions under which a value is the same at two points of a kernel.

    %0 = loop.load %x[%t floordiv 2]
    %1 = math.exp %0

is the same for two threads if `%t floordiv 2` is. Values of reductions, slabs and combines are the
same where all axes are equal along which they vary.
"""

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.traits import is_side_effect_free

from tilewright.dialects.axes import Access
from tilewright.dialects.loop import IndexOp, LoadOp, PredicateOp
from tilewright.dialects.tile import MeetingOp, launch_of, value_varies_along
from tilewright.proof.formulas import All, Formula, Not, Some, equal, same_truth
from tilewright.proof.points import Point


def equal_value(value: SSAValue, first: Point, second: Point) -> Formula:
    """Return a condition under which a value is the same at both points; others are possible."""
    same_axes = _same_axes(value, first, second)
    match op := value.owner:
        case LoadOp() if _is_only_read(op.memref):
            access, mask = (op.map.data.results, op.indices), op.where
            element = equal(first.exprs(access), second.exprs(access))
            is_zero = Not(All(first.holds(mask)))
            loaded = All((_same_mask(mask, first, second), Some((is_zero, element))))
            return Some((same_axes, loaded))
        case IndexOp():
            access = op.map.data.results, op.indices
            return equal(first.exprs(access), second.exprs(access))
        case PredicateOp():
            return _same_mask((op.map.data.results, op.indices), first, second)
        case Operation() if _is_function(op):
            return All([equal_value(operand, first, second) for operand in op.operands])
        case _:
            return same_axes


def _same_mask(mask: Access | None, first: Point, second: Point) -> Formula:
    return same_truth(All(first.holds(mask)), All(second.holds(mask)))


def _is_only_read(memref: SSAValue) -> bool:
    """True for a buffer that the kernel does not store to."""
    users = [use.operation for use in memref.uses]
    return isinstance(memref, BlockArgument) and all(isinstance(op, LoadOp) for op in users)


def _is_function(op: Operation) -> bool:
    """True if the results of an op depend on the values of its operands only."""
    has_memory = any(isinstance(value.type, MemRefType) for value in (*op.operands, *op.results))
    is_alone = not isinstance(op, MeetingOp) and not op.regions
    return is_alone and not has_memory and is_side_effect_free(op)


def _same_axes(value: SSAValue, first: Point, second: Point) -> Formula:
    """Return the condition that all axes are equal along which a value may vary."""
    varies = value_varies_along(value, {})
    axes = [axis for axis in first.axes if launch_of(axis) is None or axis in varies]
    if any(axis not in second.axes for axis in axes):
        return Some(())
    return equal([first.axes[axis] for axis in axes], [second.axes[axis] for axis in axes])
