# SPDX-License-Identifier: Apache-2.0
"""The tensor maps that a kernel takes: one for each kind of box that it copies."""

from typing import cast

from xdsl.ir import BlockArgument

from tilewright.dialects import kernel
from tilewright.dialects.cuda_tensor_map import TensorMapType
from tilewright.dialects.tile_layout import layout_of
from tilewright.dialects.types import memref_type
from tilewright.errors import UnsupportedError

ADDRESS_ALIGNMENT = 16
"""Bytes that an array's address is a multiple of (driver API, `cuTensorMapEncodeTiled`)."""


def tensor_maps(source: kernel.FuncOp) -> dict[TensorMapType, BlockArgument]:
    """The maps of a kernel and the inputs that they are of, in the order of their first use."""
    copies = (op for op in source.body.block.walk() if isinstance(op, kernel.TmaCopyOp))
    return {tensor_map_of(op, source): cast(BlockArgument, op.source) for op in copies}


def tensor_map_of(op: kernel.TmaCopyOp, source: kernel.FuncOp) -> TensorMapType:
    """What the hardware has to know to copy `op`'s box, or a piece of it."""
    if op.source not in source.inputs:
        raise UnsupportedError(
            "a box is copied from what is no input of the kernel",
            where=f"kernel @{source.sym_name.data}",
        )
    type, layout = memref_type(op.source), layout_of(memref_type(op.target))
    *rest, last = op.box.get_values()
    input = [*source.inputs].index(cast(BlockArgument, op.source))
    box = [*rest, layout.inner.data or last]
    return TensorMapType.get(
        type.get_shape(), type.element_type, box, layout.swizzle_bytes.data, input
    )
