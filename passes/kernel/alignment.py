# SPDX-License-Identifier: Apache-2.0
"""What the vector copies of a kernel need of the buffers that it is given."""

from xdsl.ir import BlockArgument

from tilewright.dialects import kernel
from tilewright.dialects.kernel_copy import CopyingOp
from tilewright.dialects.kernel_ring import TmaCopyOp

_TMA_BYTES = 16
"""The address of a tensor that the tensor memory accelerator reads (`cuTensorMapEncodeTiled`)."""


def require_aligned_arguments(function: kernel.FuncOp) -> None:
    """Each argument's address is a multiple of what is moved to or from it at once."""
    for op in function.walk():
        if isinstance(op, CopyingOp):
            sides, bytes = (op.source, op.target), op.num_bytes
        elif isinstance(op, TmaCopyOp):
            sides, bytes = (op.source,), _TMA_BYTES
        else:
            continue
        for side in sides:
            if isinstance(side, BlockArgument) and side.owner is function.body.block:
                function.require_alignment(side, bytes)
