# SPDX-License-Identifier: Apache-2.0
"""Split of a kernel's outermost nest: some free axes stay outside, the others move inside."""

from collections.abc import Sequence

from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from tilewright.dialects import loop
from tilewright.passes.facts.nest import nest_block


def row_block(rewriter: PatternRewriter, kernel: loop.KernelOp, axes: Sequence[SSAValue]) -> Block:
    """
    Return the body of a nest over just `axes`; the other axes of the outermost nest move inside it.
    """
    block = nest_block(kernel)
    if block is kernel.body.block or set(axes) == set(block.args):
        return block
    nest = block.parent_op()
    assert isinstance(nest, loop.ForOp)
    inside = [axis for axis in block.args if axis not in axes]
    values: dict[SSAValue, SSAValue] = {}
    inner = _nest_over(inside, nest, values)
    if not axes:
        _move_body(nest, inner, values)
        rewriter.replace(nest, inner, [])
        return kernel.body.block
    outer = _nest_over([axis for axis in block.args if axis in axes], nest, values)
    _move_body(nest, inner, values)
    outer.body.block.add_op(inner)
    rewriter.replace(nest, outer, [])
    return outer.body.block


def _nest_over(
    axes: Sequence[SSAValue], nest: loop.ForOp, values: dict[SSAValue, SSAValue]
) -> loop.ForOp:
    """
    Return an empty nest over `axes`, which are axes of `nest`. Map each of them to the new axis in
    `values`.
    """
    all_axes: list[SSAValue] = list(nest.body.block.args)
    positions = [all_axes.index(axis) for axis in axes]
    body = Block(arg_types=[axis.type for axis in axes])
    for old, new in zip(axes, body.args, strict=True):
        new.name_hint = old.name_hint
        values[old] = new
    extents, roles = nest.axis_extents(), nest.axis_roles()
    return loop.ForOp([extents[p] for p in positions], Region(body), [roles[p] for p in positions])


def _move_body(nest: loop.ForOp, inner: loop.ForOp, values: dict[SSAValue, SSAValue]) -> None:
    for old, new in values.items():
        old.replace_all_uses_with(new)
    ops: list[Operation] = list(nest.body.block.ops)
    for op in ops:
        op.detach()
    inner.body.block.add_ops(ops)
