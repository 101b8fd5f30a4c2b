# SPDX-License-Identifier: Apache-2.0
"""
What each free axis is to the reductions beneath it.

A contraction is a reduction of which two loads vary with its own axis, each with a free axis that
the other does not vary with. Axes that only the first varies with are `m`, those of only the others
`n`, those of both `batch`. Anything else that reduces works on rows. A load varies with an axis
also through data: rows that an index tensor names along `m` are rows of a factor.
"""

from collections.abc import Sequence

from xdsl.ir import Block, SSAValue

from tilewright.dialects import loop
from tilewright.dialects.axes import Role
from tilewright.passes.index_sources import index_sources


def axis_roles(block: Block) -> list[Role]:
    """The role of each axis of a nest, given its body."""
    axes = block.args if isinstance(block.parent_op(), loop.ForOp) else ()
    return roles_in(block, axes)


def roles_in(block: Block, axes: Sequence[SSAValue]) -> list[Role]:
    """The role of each of `axes` for the reductions of a body that stands inside all of them."""
    reductions = [op for op in block.ops if isinstance(op, loop.ReduceOp)]
    if not reductions:
        return [Role.FREE] * len(axes)
    for reduction in reductions:
        if (roles := _contraction_roles(reduction, axes)) is not None:
            return roles
    return [Role.ROW] * len(axes)


def is_contraction(block: Block) -> bool:
    """Whether the axes of a nest, given its body, are rows and columns of a product."""
    return Role.N in axis_roles(block)


def _contraction_roles(reduction: loop.ReduceOp, axes: Sequence[SSAValue]) -> list[Role] | None:
    loads = [op for op in reduction.body.walk() if isinstance(op, loop.LoadOp)]
    indices = [index_sources(op.indices) for op in loads]
    varying = [of_load for of_load in indices if reduction.axis in of_load]
    used = [frozenset(axis for axis in axes if axis in of_load) for of_load in varying]
    factors = [axes_of_load for axes_of_load in used if axes_of_load]
    for left in factors:
        right = frozenset[SSAValue]().union(*(factor for factor in factors if factor != left))
        if left - right and right - left and left | right == frozenset(axes):
            return [_role(axis in left, axis in right) for axis in axes]
    return None


def _role(in_left: bool, in_right: bool) -> Role:
    if in_left and in_right:
        return Role.BATCH
    return Role.M if in_left else Role.N
