# SPDX-License-Identifier: Apache-2.0
"""
Swizzled layouts that a slab can have: spans of 32, 64 or 128 bytes along its innermost axis.

    memref<128x16xf32, 3>  in spans of at most 64 bytes   #tile.layout<swizzle 64>
    memref<64x256xbf16, 3> in spans of at most 128 bytes  #tile.layout<inner 64, swizzle 128>
"""

from tilewright.dialects import tile
from tilewright.dialects.tile import SlabLayoutAttr, Transport
from tilewright.dialects.tile.layout import SWIZZLES
from tilewright.dialects.types import memref_type, size_of
from tilewright.passes.facts.boxes import find_box
from tilewright.passes.facts.matrix_product import reason_against_layout
from tilewright.passes.facts.memoised import memoised


def has_lines(stage: tile.StageOp) -> bool:
    """True if a slab has an axis for lines, between its first axis and its innermost one."""
    return len(stage.axis_extents()) > 2 and not stage.layout.order


@memoised
def swizzled_layout(
    stage: tile.StageOp, width: int, lines_first: bool = False
) -> SlabLayoutAttr | str:
    """
    Return the slab's layout with swizzled spans of 32, 64 or 128 bytes, at most `width`, or the
    reason why there is none. The reason is worded to follow the slab's name. With `lines_first`,
    the first axis of the slab is stored next to the innermost one.
    """
    type, layout = memref_type(stage.slab), stage.layout
    if layout.swizzle_bytes.data or layout.inner.data or layout.pad:
        return "has a layout already"
    if lines_first and not has_lines(stage):
        return "has no axis for lines"
    row, element = row_bytes(stage), size_of(type.element_type)
    span = min(row, width)
    if span not in SWIZZLES or row % span:
        return f"has rows of {row} bytes, which are not whole spans of 32, 64 or 128"
    inner = span // element if row > span else 0
    swizzled = layout.with_swizzle(span, inner)
    if lines_first:
        *lines, last = range(1, type.get_num_dims())
        swizzled = SlabLayoutAttr.get(order=[*lines, 0, last], inner=inner, swizzle=span)
    if (reason := reason_against_layout(stage, swizzled)) is not None:
        return f"{reason}; pieces of {span} bytes break them"
    load = stage.copied_load()
    if stage.transport_kind is Transport.TMA and load is not None:
        if isinstance(box := find_box(stage, load, swizzled), str):
            return f"cannot be copied by TMA in that layout: {box}"
    return swizzled


def row_bytes(stage: tile.StageOp) -> int:
    """Return the bytes of an innermost row of a slab."""
    type = memref_type(stage.slab)
    row = type.get_shape()[stage.layout.axes(type.get_num_dims())[-1]]
    return row * size_of(type.element_type)
