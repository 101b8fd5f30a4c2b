# SPDX-License-Identifier: Apache-2.0
"""Nests of reductions over other axes: the same steps, counted differently."""

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Region
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import loop
from tilewright.passes.facts.nest import nest_block
from tilewright.passes.loop.kernel_builder import AXIS_NAMES
from tilewright.passes.rewriting.substitution import Substitution


def reducing_nest(kernel: loop.KernelOp) -> loop.ForOp | None:
    """Return the outermost nest of the kernel, if each of its steps reduces."""
    block = nest_block(kernel)
    nest = block.parent_op()
    reduces = any(isinstance(op, loop.ReduceOp) for op in block.ops)
    return nest if isinstance(nest, loop.ForOp) and reduces else None


def replace_nest(nest: loop.ForOp, new: loop.ForOp) -> None:
    """Put `new` in the place of `nest`."""
    assert nest.parent is not None
    nest.parent.insert_op_before(new, nest)
    nest.detach()
    nest.erase()


def over_axes(
    nest: loop.ForOp, extents: Sequence[int], old_axes: Sequence[AffineExpr]
) -> loop.ForOp:
    """
    Return a copy of `nest` over axes of `extents`; `old_axes` are its own, as expressions of those.
    """
    body = Block(arg_types=[IndexType()] * len(extents))
    for position, axis in enumerate(body.args):
        axis.name_hint = AXIS_NAMES[position % len(AXIS_NAMES)]
    copy = loop.ForOp(extents, Region(body))  # before its ops: these ask for the axes' ranges
    copy.location = nest.location
    axes = zip(nest.body.block.args, old_axes, strict=True)
    substitution = Substitution(indices={axis: (expr, body.args) for axis, expr in axes})
    for op in nest.body.block.ops:
        body.add_op(substitution.clone(op))
    return copy
