# SPDX-License-Identifier: Apache-2.0
"""Erases comments that stand above nothing: what they told of is written where it is used."""

from xdsl.ir import Block, Operation

from tilewright.dialects.cuda_expressions import ExpressionOp
from tilewright.dialects.cuda_statements import CommentOp


def erase_idle_comments(block: Block) -> None:
    """Erase comments that another one follows, or none of the statements of the body."""
    following: Operation | None = None
    for op in reversed([op for op in block.ops if not isinstance(op, ExpressionOp)]):
        if isinstance(op, CommentOp) and (following is None or isinstance(following, CommentOp)):
            op.detach()
            op.erase()
            continue
        for region in op.regions:
            for inner in region.blocks:
                erase_idle_comments(inner)
        following = op
