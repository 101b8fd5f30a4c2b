# SPDX-License-Identifier: Apache-2.0
"""Comments stay where they are."""

from tilewright.dialects import kernel
from tilewright.dialects.cuda.statements import CommentOp
from tilewright.passes.cuda.conversion import Conversion, Handlers


def _comment(to: Conversion, op: kernel.CommentOp) -> None:
    to.writer.statement(CommentOp(op.text.data))


COMMENTS: Handlers = {kernel.CommentOp: _comment}
