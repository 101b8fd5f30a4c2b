# SPDX-License-Identifier: Apache-2.0
"""Emission of a comment above each phase while a kernel is lowered."""

from collections.abc import Container

from xdsl.ir import Block, Operation

from tilewright.dialects import kernel
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.passes.kernel.emitter import Emitter
from tilewright.passes.kernel.phase_comments import phases_of


class Commenting:
    """Comments of the phases that are not lowered yet."""

    def __init__(self, emitter: Emitter):
        self._emit = emitter
        self._comments: dict[Operation, str] = {}

    def enter(self, block: Block, elsewhere: Container[Operation]) -> None:
        """
        Prepare the comments for the ops of `block`, which are lowered next; ops in `elsewhere` are
        lowered elsewhere. A block whose ops form a single phase gets no comment: the comment above
        the block describes it.
        """
        ops = [op for op in block.ops if op not in elsewhere]
        phases = phases_of(ops)
        if len(phases) > 1 or len(ops) < len(block.ops):
            self._comments.update((phase.ops[0], phase.comment()) for phase in phases)

    def above(self, op: Operation) -> None:
        """
        Emit the comment of the phase that begins with `op`, if any; the lowering of `op` follows.
        """
        if (text := self._comments.pop(op, None)) is not None:
            with self._emit.at(op):
                self._emit.op(kernel.CommentOp(text))


def drop_only_comment(function: kernel.FuncOp) -> None:
    """Erase the comment of a kernel that has only one: the kernel's name says the same."""
    comments = [op for op in ops_in(function) if isinstance(op, kernel.CommentOp)]
    if len(comments) == 1:
        comments[0].detach()
        comments[0].erase()
