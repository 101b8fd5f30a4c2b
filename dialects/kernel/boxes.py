# SPDX-License-Identifier: Apache-2.0
"""
Boxes that the tensor memory accelerator copies from a tensor to a slot, and how a box that the slot
does not hold as it is comes there as several (CUDA driver API, `cuTensorMapEncodeTiled`; CUDA C++
Programming Guide, "The Swizzle Modes").
"""

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from xdsl.dialects.builtin import MemRefType

from tilewright.dialects.tile.layout import ROW_BYTES, SlabLayoutAttr, layout_of
from tilewright.dialects.types import size_of

MAX_BOX = 256
"""Elements of a box along each axis."""

MAX_BOX_RANK = 5
"""Axes of a box."""

BOX_ALIGNMENT = 16
"""Bytes that a tensor, its rows and those of a box are multiples of."""


class Pieces(NamedTuple):
    """What the hardware is told of a box, which it copies in one or several pieces."""

    tensor: Sequence[int]
    """
    The shape that the tensor is given: where the slot deals rows out to 4 piles, an axis of 128
    rows is two, of 32 rows in a pile and of 4 piles.
    """
    piece: Sequence[int]
    """The extents of one piece along the axes of that shape."""
    row: int | None
    """The axis of the tensor whose steps are dealt out, if they are."""


def box_pieces(shape: Sequence[int], box: Sequence[int], layout: SlabLayoutAttr) -> Pieces:
    """Return the pieces of a box, of a tensor of that shape, in a slot that is laid out so."""
    piece = [*box[:-1], layout.inner.data or box[-1]]
    row = next((axis for axis in reversed(range(len(box) - 1)) if box[axis] > 1), None)
    deal = layout.deal.data
    if not deal or row is None:
        return Pieces(shape, piece, None)
    tensor = [*shape[:row], shape[row] // deal, deal, *shape[row + 1 :]]
    return Pieces(tensor, [*piece[:row], piece[row] // deal, 1, *piece[row + 1 :]], row)


def box_problem(shape: Sequence[int], box: Sequence[int], target: MemRefType) -> str | None:
    """
    Why the hardware cannot store a box with these extents, of a tensor of that shape, in memory of
    that type, or None.
    """
    layout, size = layout_of(target), size_of(target.element_type)
    _, piece, row = box_pieces(shape, box, layout)
    inner, apart = piece[-1] * size, prod(piece) * size
    if len(piece) > MAX_BOX_RANK or any(not 1 <= extent <= MAX_BOX for extent in piece):
        return f"a box has up to {MAX_BOX_RANK} axes of 1 to {MAX_BOX} elements, not {piece}"
    if layout.order or layout.pad:
        return "a box is stored in its own order and without padding"
    if row is not None and prod(box[:row]) > 1:
        return "the rows of several matrices are not dealt out together"
    if row is not None and shape[row] % layout.deal.data:
        return f"{shape[row]} rows of the tensor are no {layout.deal.data} piles of as many"
    if inner % BOX_ALIGNMENT:
        return f"the inner axis of a box is a multiple of {BOX_ALIGNMENT} bytes, not {inner}"
    if prod(piece) != prod(box) and apart % ROW_BYTES:
        # swizzles count from address 0, and slots begin where they repeat: pieces need not
        return (
            f"pieces of a box begin at multiples of {ROW_BYTES} bytes, but are {apart} bytes apart"
        )
    return None
