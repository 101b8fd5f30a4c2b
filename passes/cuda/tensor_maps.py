# SPDX-License-Identifier: Apache-2.0
"""The tensor map that a copy of a box takes; copies of boxes of one kind share it."""

from typing import cast

from xdsl.ir import BlockArgument

from tilewright.dialects import kernel
from tilewright.dialects.cuda.types import TensorMapType
from tilewright.dialects.kernel.boxes import BOX_ALIGNMENT, box_pieces
from tilewright.dialects.tile.layout import layout_of
from tilewright.dialects.types import memref_type, size_of
from tilewright.passes.cuda.unsupported import cannot_lower


def tensor_map_of(op: kernel.TmaCopyOp, source: kernel.FuncOp) -> TensorMapType:
    """What the hardware has to know to copy `op`'s box, or a piece of it."""
    type, layout = memref_type(op.source), layout_of(memref_type(op.target))
    _check(op, source)
    pieces = box_pieces(type.get_shape(), op.box.get_values(), layout)
    input = [*source.inputs].index(cast(BlockArgument, op.source))
    return TensorMapType.get(
        pieces.tensor, type.element_type, pieces.piece, layout.swizzle_bytes.data, input
    )


def _check(op: kernel.TmaCopyOp, source: kernel.FuncOp) -> None:
    if op.source not in source.inputs:
        raise cannot_lower(source, op, "a box is copied from what is no input of the kernel")
    type = memref_type(op.source)
    row = type.get_shape()[-1] * size_of(type.element_type)
    if type.get_num_dims() > 1 and row % BOX_ALIGNMENT:
        begin = f"boxes are copied where each begins at a multiple of {BOX_ALIGNMENT}"
        raise cannot_lower(source, op, f"rows of {row} bytes in {type}; {begin}")
