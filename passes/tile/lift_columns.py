# SPDX-License-Identifier: Apache-2.0
"""
Lifts the loop over the columns that each row is contracted with, into the launch around it.

Ops beside the loop, such as the maximum of the row, are then repeated for every column, until
`cooperative-reduce` shares them among threads. Stores beside the loop are done by the first column.
"""

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Role
from tilewright.dialects.tile.attributes import AxisAttr, Level
from tilewright.passes.facts.roles import roles_in
from tilewright.passes.rewriting.substitution import masked_store


def lift_columns(launch: tile.LaunchOp, rewriter: PatternRewriter | None = None) -> None:
    """
    Lift the loop over the columns, if it is the only `loop.for` or scan in the launch. A copy of a
    kernel that is only examined needs no `rewriter`.
    """
    rewriter = rewriter or PatternRewriter(launch)
    loops = [op for op in launch.body.block.ops if isinstance(op, loop.ForOp | loop.ScanOp)]
    if len(loops) != 1 or not isinstance(columns := loops[0], loop.ForOp):
        return
    block = launch.body.block
    roles = roles_in(columns.body.block, [*block.args, *columns.body.block.args])
    extents = [*launch.axis_extents(), *columns.axis_extents()]
    if Role.N not in roles or 0 in extents:
        return
    beside = [op for op in block.ops if isinstance(op, loop.StoreOp)]
    axes: list[SSAValue] = []
    for old in columns.body.block.args:
        axes.append(rewriter.insert_block_argument(block, len(block.args), old.type))
        axes[-1].name_hint = old.name_hint
    launch.axes = ArrayAttr(
        AxisAttr.get(Level.BLOCK, extent, role) for extent, role in zip(extents, roles, strict=True)
    )
    rewriter.notify_op_modified(launch)
    rewriter.inline_block(columns.body.block, InsertPoint.before(columns), axes)
    rewriter.erase(columns)
    for store in beside:
        first = [AffineExpr.dimension(d) * -1 for d in range(len(axes))]
        rewriter.replace(store, masked_store(store, (first, axes)))
