# SPDX-License-Identifier: Apache-2.0
"""What the vector copies of a kernel need of the buffers that it is given."""

from xdsl.ir import BlockArgument, Operation, SSAValue

from tilewright.dialects import kernel
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.kernel.boxes import BOX_ALIGNMENT
from tilewright.dialects.kernel.copy import CopyingOp
from tilewright.dialects.kernel.ring import TmaCopyOp


def require_aligned_arguments(function: kernel.FuncOp) -> None:
    """Each argument's address is a multiple of what is moved to or from it at once."""
    for side, bytes in (moved for op in ops_in(function) for moved in _moved(op)):
        if isinstance(side, BlockArgument) and side.owner is function.body.block:
            function.require_alignment(side, bytes)


def _moved(op: Operation) -> list[tuple[SSAValue, int]]:
    """What is moved from and to, and how many bytes at once."""
    match op:
        case CopyingOp():
            return [(op.source, op.num_bytes), (op.target, op.num_bytes)]
        case TmaCopyOp():
            return [(op.source, BOX_ALIGNMENT)]
        case _:
            return []
