# SPDX-License-Identifier: Apache-2.0
"""
Boxes that the tensor memory accelerator (TMA) copies from a tensor to a slot of a ring.

A box whose layout in the slot differs from its own is copied in several pieces. If the pieces cut
the tensor's rows evenly, one copy moves them all: the tensor is described with an axis of pieces.
A slot that stores the box's axes in another order is described by the strides of the tensor's axes.
Sources: CUDA driver API, `cuTensorMapEncodeTiled`; CUDA C++ Programming Guide, "The Swizzle Modes".
"""

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from xdsl.dialects.builtin import MemRefType

from tilewright.dialects.tile.layout import ROW_BYTES, SlabLayoutAttr, layout_of
from tilewright.dialects.types import size_of

MAX_BOX = 256
"""Most elements of a box along each axis."""

MAX_BOX_RANK = 5
"""Most axes of a box."""

BOX_ALIGNMENT = 16
"""Alignment in bytes of a tensor's address and rows, and of a box's rows."""


class Pieces(NamedTuple):
    """Parameters with which TMA copies one box, in one or several pieces."""

    tensor: Sequence[int]
    """
    Shape by which the tensor is described to TMA.

    If the slot's layout deals rows out to 4 piles, an axis of 128 rows becomes two axes: 32 rows in
    a pile, and 4 piles.
    """
    piece: Sequence[int]
    """Extents of one piece along the axes of `tensor`."""
    row: int | None
    """Axis of the original tensor whose rows are dealt out to piles; None if there is none."""
    strides: Sequence[int] = ()
    """Strides of the axes of `tensor` in elements; empty for a row-major tensor."""
    is_whole: bool = False
    """True if one copy moves all pieces."""


def stored_axes(box: Sequence[int], target: MemRefType) -> Sequence[int]:
    """
    Return the tensor's axes in the order in which memory of type `target` stores those of a box.
    Axes of one element come first if the layout has an order.
    """
    layout, shape = layout_of(target), target.get_shape()
    if not layout.order:
        return range(len(box))
    extents = shape[1:] if layout.has_slots else shape
    stored = [axis for axis in layout.axes(len(extents)) if extents[axis] > 1]
    long = [axis for axis, extent in enumerate(box) if extent > 1]
    of_slab = dict(zip(sorted(stored), long, strict=True))
    single = [axis for axis, extent in enumerate(box) if extent == 1]
    return [*single, *(of_slab[axis] for axis in stored)]


def strides_of(shape: Sequence[int]) -> list[int]:
    """Return the strides of the axes of a row-major tensor in elements."""
    return [prod(shape[axis + 1 :]) for axis in range(len(shape))]


def box_pieces(
    shape: Sequence[int], box: Sequence[int], layout: SlabLayoutAttr, strides: Sequence[int] = ()
) -> Pieces:
    """
    Return the parameters with which TMA copies a box from a tensor of `shape` to a slot with
    `layout`. The axes are in stored order.
    """
    piece = [*box[:-1], layout.inner.data or box[-1]]
    row = next((axis for axis in reversed(range(len(box) - 1)) if box[axis] > 1), None)
    deal = layout.deal.data
    if not deal or row is None:
        return Pieces(shape, piece, None, strides)
    tensor = [*shape[:row], shape[row] // deal, deal, *shape[row + 1 :]]
    return Pieces(tensor, [*piece[:row], piece[row] // deal, 1, *piece[row + 1 :]], row)


def pieces_as_axis(
    shape: Sequence[int], box: Sequence[int], layout: SlabLayoutAttr, strides: Sequence[int] = ()
) -> Pieces | None:
    """
    Return the parameters with which one copy moves all pieces of a box; None if the box has one
    piece, or if pieces do not cut the tensor's rows evenly. The axes are in stored order.

    The first axis counts pieces, although its stride is smaller than those of the axes after it.
    The driver's manual does not order strides, and libraries have such maps (ThunderKittens).
    """
    inner = layout.inner.data
    if not inner or box[-1] == inner or shape[-1] % inner or len(box) == MAX_BOX_RANK:
        return None
    if box_pieces(shape, box, layout).row is not None or box[-1] > inner * MAX_BOX:
        return None
    tensor = [shape[-1] // inner, *shape[:-1], inner]
    piece = [box[-1] // inner, *box[:-1], inner]
    return Pieces(tensor, piece, None, [inner, *(strides or strides_of(shape))], is_whole=True)


def box_problem(shape: Sequence[int], box: Sequence[int], target: MemRefType) -> str | None:
    """
    Reason why TMA cannot store a box with these extents in memory of type `target`, or None.

    `shape` is the shape of the tensor that the box is copied from.
    """
    layout, size = layout_of(target), size_of(target.element_type)
    if layout.order and (layout.deal.data or stored_axes(box, target)[-1] != len(box) - 1):
        return "a box keeps its innermost axis, and its rows are not dealt out in another order"
    axes = stored_axes(box, target)
    piece, row = box_pieces([shape[at] for at in axes], [box[at] for at in axes], layout)[1:3]
    inner, piece_bytes = piece[-1] * size, prod(piece) * size
    if len(piece) > MAX_BOX_RANK or any(not 1 <= extent <= MAX_BOX for extent in piece):
        return f"a box has up to {MAX_BOX_RANK} axes of 1 to {MAX_BOX} elements, not {piece}"
    if layout.pad:
        return "a box is stored without padding"
    if row is not None and prod(box[:row]) > 1:
        return "a box of several matrices cannot be dealt out by rows"
    if row is not None and shape[row] % layout.deal.data:
        return f"{shape[row]} rows of the tensor do not divide into {layout.deal.data} equal piles"
    if inner % BOX_ALIGNMENT:
        return f"the inner axis of a box is a multiple of {BOX_ALIGNMENT} bytes, not {inner}"
    if prod(piece) != prod(box) and piece_bytes % ROW_BYTES:
        # swizzles count from address 0; slots begin at a multiple of their period, pieces may not
        return (
            f"pieces of a box begin at multiples of {ROW_BYTES} bytes, but are {piece_bytes} "
            "bytes apart"
        )
    return None
