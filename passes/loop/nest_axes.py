# SPDX-License-Identifier: Apache-2.0
"""Rewrites of a reducing nest to other axes, which run the same steps with other numbers."""

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Region
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import loop
from tilewright.passes.loop.kernel_builder import AXIS_NAMES
from tilewright.passes.rewriting.substitution import Substitution


def replace_nest(nest: loop.ForOp, new: loop.ForOp) -> None:
    """Replace `nest` by `new`, and erase it."""
    assert nest.parent is not None
    nest.parent.insert_op_before(new, nest)
    nest.detach()
    nest.erase()


def over_axes(
    nest: loop.ForOp, extents: Sequence[int], old_axes: Sequence[AffineExpr]
) -> loop.ForOp:
    """
    Return a copy of `nest` with axes of `extents`; `old_axes` are the axes of `nest`, as
    expressions over the new ones.
    """
    body = Block(arg_types=[IndexType()] * len(extents))
    for position, axis in enumerate(body.args):
        axis.name_hint = AXIS_NAMES[position % len(AXIS_NAMES)]
    copy = loop.ForOp(extents, Region(body))  # before its ops, which ask for the ranges of the axes
    copy.location = nest.location
    axes = zip(nest.body.block.args, old_axes, strict=True)
    substitution = Substitution(indices={axis: (expr, body.args) for axis, expr in axes})
    for op in nest.body.block.ops:
        body.add_op(substitution.clone(op))
    return copy
