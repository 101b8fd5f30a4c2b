# SPDX-License-Identifier: Apache-2.0
"""
Makes axes of the launch of a loop inside it, over the columns that each row is contracted with.

What is beside the loop, such as the maximum of the row, is then computed for every column, until
`cooperative-reduce` shares it among them; what is stored beside it, the first column stores.
"""

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir.affine import AffineExpr
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Role
from tilewright.dialects.tile.attributes import AxisAttr, Level
from tilewright.passes.facts.roles import roles_in
from tilewright.passes.rewriting.substitution import stored_where


def lift_columns(launch: tile.LaunchOp) -> None:
    """Lift the loop over the columns, if the launch has one and no other loop beside it."""
    loops = [op for op in launch.body.block.ops if isinstance(op, loop.ForOp | loop.ScanOp)]
    if len(loops) != 1 or not isinstance(columns := loops[0], loop.ForOp):
        return
    block = launch.body.block
    roles = roles_in(columns.body.block, [*block.args, *columns.body.block.args])
    extents = [*launch.axis_extents(), *columns.axis_extents()]
    if Role.N not in roles or 0 in extents:
        return
    beside = [op for op in block.ops if isinstance(op, loop.StoreOp)]
    axes = [block.insert_arg(axis.type, len(block.args)) for axis in columns.body.block.args]
    for old, new in zip(columns.body.block.args, axes, strict=True):
        new.name_hint = old.name_hint
    launch.axes = ArrayAttr(
        AxisAttr.get(Level.BLOCK, extent, role) for extent, role in zip(extents, roles, strict=True)
    )
    Rewriter.inline_block(columns.body.block, InsertPoint.before(columns), axes)
    Rewriter.erase_op(columns)
    for store in beside:
        first = [AffineExpr.dimension(d) * -1 for d in range(len(axes))]
        Rewriter.replace_op(store, stored_where(store, (first, axes)))
