# SPDX-License-Identifier: Apache-2.0
"""Static estimate of a program's work: its number of scalar operations."""

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

from xdsl.dialects import func, scf
from xdsl.dialects.builtin import ShapedType
from xdsl.ir import Attribute, Block, Operation
from xdsl.traits import SymbolTable

from tilewright.dialects.axes import AxesOp, range_of_value
from tilewright.dialects.kernel import (
    FuncOp,
    GroupMultiplyOp,
    LoadMatrixOp,
    MatrixMultiplyOp,
    TmaCopyOp,
)
from tilewright.dialects.kernel.copy import CopyingOp
from tilewright.dialects.loop import LaunchOp


def scalar_operations(root: Operation, *callers: Operation) -> int:
    """
    Return the number of scalar operations of one run of `root`, a function or kernel.

    Each op counts once for every point of the axes around it, and for every element that it
    computes or copies. This is an upper bound: an op that does not vary along an axis may be
    hoisted. A call of one of `callers` is recursive, never returns, and counts as zero.
    """
    blocks = [block for region in root.regions for block in region.blocks]
    return sum(_block_operations(block, *callers) for block in blocks) * _points(root)


def _block_operations(block: Block, *callers: Operation) -> int:
    return sum(_op_operations(op, *callers) for op in block.ops)


def _op_operations(op: Operation, *callers: Operation) -> int:
    if isinstance(op, func.CallOp | LaunchOp):
        name = op.callee if isinstance(op, func.CallOp) else op.kernel
        callee = SymbolTable.lookup_symbol(op, name)
        if callee is None or callee in callers:
            return 0
        return scalar_operations(callee, *callers, callee)
    if op.regions:
        return scalar_operations(op, *callers)
    if isinstance(op, CopyingOp):
        return op.width.value.data
    if isinstance(op, LoadMatrixOp):
        return op.target_elements
    if isinstance(op, MatrixMultiplyOp | GroupMultiplyOp):
        return 2 * op.products
    if isinstance(op, TmaCopyOp):
        return -(-prod(op.box.get_values()) // _threads_around(op))
    return max((_elements(result.type) for result in op.results), default=1)


def _threads_around(op: Operation) -> int:
    """
    Return the number of threads in a block of the kernel around `op`, which share its work; 1
    outside a kernel.
    """
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, FuncOp):
        parent = parent.parent_op()
    return 1 if parent is None else parent.block.value.data


def _elements(type: Attribute) -> int:
    return prod(type.get_shape()) if isinstance(type, ShapedType) else 1


def _points(op: Operation) -> int:
    if isinstance(op, AxesOp):
        return prod(op.axis_extents())
    for kind, points in _POINTS.items():
        if isinstance(op, kind):
            return points(op)
    return 1


def _trips(op: scf.ForOp) -> int:
    low, high, step = map(range_of_value, (op.lb, op.ub, op.step))
    if low is None or high is None or step is None:
        return 1
    return max(0, -(-(high.high - low.low) // max(step.low, 1)))


_POINTS: Mapping[type[Operation], Callable[[Any], int]] = {
    FuncOp: lambda op: op.grid.value.data * op.block.value.data,
    scf.ForOp: _trips,
}
