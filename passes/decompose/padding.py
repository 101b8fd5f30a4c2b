# SPDX-License-Identifier: Apache-2.0
"""
Decompositions of padding: index maps whose masks hold inside of the input.

    %1 = torch.pad %0 pad [1, 1] value 2.0 : (tensor<4xf32>) -> tensor<6xf32>

becomes

    %1 = prim.index_map %0 by affine_map<(d0) -> ((d0 + -1))>
        where affine_map<(d0) -> ((d0 + -1), ((d0 * -1) + 4))> else 2.000000e+00 : f32
        : tensor<4xf32> -> tensor<6xf32>
"""

from collections.abc import Callable, Sequence

from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from tilewright.dialects import torch
from tilewright.dialects.element_types import Number
from tilewright.dialects.torch.padding import pads_of, pair
from tilewright.passes.decompose.decomposition import Decomposition, Table
from tilewright.passes.decompose.overlay import Piece, masked_view, overlay
from tilewright.passes.decompose.tensor import Emitter, Tensor
from tilewright.passes.decompose.view import axes_of

Pads = Sequence[tuple[int, int]]
"""Number of elements to add before and after each dimension; negative numbers remove elements."""


def within(position: AffineExpr, size: int) -> list[AffineExpr]:
    """
    Return two expressions that are both at least 0 where `position` is within an axis of size
    `size`.
    """
    return [position, position * -1 + (size - 1)]


def _padded_shape(input: Tensor, pads: Pads) -> tuple[int, ...]:
    return tuple(n + before + after for n, (before, after) in zip(input.shape, pads, strict=True))


def constant_pad(input: Tensor, pads: Pads, value: Number) -> Tensor:
    """Return the input with `value` around it."""
    axes = axes_of(input.rank)
    positions = [axis - before for axis, (before, _) in zip(axes, pads, strict=True)]
    sizes = zip(positions, input.shape, strict=True)
    bounds = [bound for position, size in sizes for bound in within(position, size)]
    return masked_view(input, positions, bounds, _padded_shape(input, pads), value)


def circular_pad(input: Tensor, pads: Pads) -> Tensor:
    """
    Return the input repeated along its dimensions. Elements that negative pads remove are not
    repeated.
    """
    coordinates: list[AffineExpr] = []
    for axis, size, (before, after) in zip(axes_of(input.rank), input.shape, pads, strict=True):
        left = max(size + min(before, 0) + min(after, 0), 1)
        coordinates.append((axis - max(before, 0)) % left - min(before, 0))
    return input.view(coordinates, _padded_shape(input, pads))


Edge = Callable[[AffineExpr, int], tuple[AffineExpr, AffineExpr]]
"""
Function that maps a position outside of an axis, and the axis's size, to the positions to read
instead. The first result replaces a position before the axis, the second result a position after
it.
"""


def mirrored(position: AffineExpr, size: int) -> tuple[AffineExpr, AffineExpr]:
    """Return the positions mirrored at the first and at the last element."""
    return position * -1, position * -1 + 2 * (size - 1)


def clamped(position: AffineExpr, size: int) -> tuple[AffineExpr, AffineExpr]:
    """Return the positions of the first and of the last element."""
    return AffineConstantExpr(0), AffineConstantExpr(size - 1)


def edge_pad(input: Tensor, pads: Pads, edge: Edge) -> Tensor:
    """
    Return the input padded from its edges, one dimension after another, so that corners are edges
    of edges.
    """
    for dim, (before, after) in enumerate(pads):
        if before or after:
            input = _edge_pad(input, dim, before, after, edge)
    return input


def _edge_pad(input: Tensor, dim: int, before: int, after: int, edge: Edge) -> Tensor:
    axes, size = axes_of(input.rank), input.shape[dim]
    shape = (*input.shape[:dim], size + before + after, *input.shape[dim + 1 :])
    inside = axes[dim] - before
    first, last = edge(inside, size)

    def piece(position: AffineExpr, bounds: Sequence[AffineExpr]) -> Piece:
        return input.view([*axes[:dim], position, *axes[dim + 1 :]], shape), bounds

    left, right = piece(first, [inside * -1 - 1]), piece(last, [inside - size])
    return overlay([piece(inside, within(inside, size)), left, right])


class ConstantPad(Decomposition[torch.ConstantPadOp]):
    """Decomposition of `constant_pad_nd`: a number around the input."""

    def decompose(self, op: torch.ConstantPadOp, emit: Emitter) -> Tensor:
        input = emit.stored(op.input)
        return constant_pad(input, pads_of(op.pad.get_values(), input.rank), emit(op.value))


class Pad(Decomposition[torch.PadOp]):
    """Decomposition of `pad`: a number, or elements of the input, around the input."""

    def decompose(self, op: torch.PadOp, emit: Emitter) -> Tensor:
        input = emit.stored(op.input)
        pads = pads_of(op.pad.get_values(), input.rank)
        match op.mode.data:
            case "reflect":
                return edge_pad(input, pads, mirrored)
            case "replicate":
                return edge_pad(input, pads, clamped)
            case "circular":
                return circular_pad(input, pads)
            case _:
                return constant_pad(input, pads, 0 if op.value is None else emit(op.value))


class Im2col(Decomposition[torch.Im2colOp]):
    """
    Decomposition of `im2col`: each column holds one window of the image, with 0 outside of the
    image. A row belongs to a channel, a row and a column within the window.
    """

    def decompose(self, op: torch.Im2colOp, emit: Emitter) -> Tensor:
        input, shape = emit.stored(op.input), op.result_shape()
        *batch, row, window = axes_of(len(shape))
        _, columns = op.windows()
        height, width = pair(op.kernel_size.get_values())
        starts = (window // columns, window % columns)
        inner = (row // width % height, row % width)
        arguments = (op.stride, op.dilation, op.padding)
        options = zip(*(pair(a.get_values()) for a in arguments), strict=True)
        y, x = (
            start * stride + i * dilation - padding
            for start, i, (stride, dilation, padding) in zip(starts, inner, options, strict=True)
        )
        bounds = [*within(y, input.shape[-2]), *within(x, input.shape[-1])]
        return masked_view(input, [*batch, row // (height * width), y, x], bounds, shape, 0)


PATTERNS: Table = {
    torch.ConstantPadOp: ConstantPad(),
    torch.PadOp: Pad(),
    torch.Im2colOp: Im2col(),
}
