# SPDX-License-Identifier: Apache-2.0
"""
Decompositions to parts of tensors or other orders of elements: one `prim.index_map` each, with
zeros where its mask fails.

    %1 = torch.tril %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>

becomes

    %1 = prim.index_map %0 by affine_map<(d0, d1) -> (d0, d1)>
        where affine_map<(d0, d1) -> ((d0 + (d1 * -1)))> else 0.000000e+00 : f32
        : tensor<4x8xf32> -> tensor<4x8xf32>
"""

from collections.abc import Sequence
from math import prod

from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from tilewright.dialects import torch
from tilewright.dialects.index import delinearize, linearize
from tilewright.dialects.torch.slicing import sliced, two_dims, wrap_index
from tilewright.passes.decompose.decomposition import Decomposition, Table
from tilewright.passes.decompose.overlay import masked_view
from tilewright.passes.decompose.tensor import Emitter, Tensor
from tilewright.passes.decompose.view import axes_of


class Slice(Decomposition[torch.SliceOp]):
    """Decomposition of `slice`: every n-th position of a range of a dimension, for a step n."""

    def decompose(self, op: torch.SliceOp, emit: Emitter) -> Tensor:
        input = emit.stored(op.input)
        dim = op.dim.value.data % input.rank
        positions = sliced(op.start, op.end, op.step, input.shape[dim])
        return input.slice(dim, positions.start, len(positions), positions.step)


def at(input: Tensor, dim: int, index: int) -> Tensor:
    """Return the elements at position `index` of dimension `dim`, without this dimension."""
    shape = (*input.shape[:dim], *input.shape[dim + 1 :])
    coordinates = axes_of(len(shape))
    coordinates.insert(dim, AffineConstantExpr(index))
    return input.view(coordinates, shape)


class Select(Decomposition[torch.SelectOp]):
    """Decomposition of `select`: one position of a dimension."""

    def decompose(self, op: torch.SelectOp, emit: Emitter) -> Tensor:
        input = emit.stored(op.input)
        dim = op.dim.value.data % input.rank
        return at(input, dim, wrap_index(op.index.value.data, input.shape[dim]))


def equal(left: AffineExpr, right: AffineExpr) -> list[AffineExpr]:
    """Return two expressions that are both at least 0 where `left` equals `right`."""
    return [left - right, right - left]


def without(items: Sequence[AffineExpr], *positions: int) -> list[AffineExpr]:
    """Return `items` except those at `positions`."""
    return [item for position, item in enumerate(items) if position not in positions]


class Diagonal(Decomposition[torch.DiagonalOp]):
    """
    Decomposition of `diagonal`: row and column advance together, along the last dimension of the
    result.
    """

    def decompose(self, op: torch.DiagonalOp, emit: Emitter) -> Tensor:
        input, shape, offset = emit.stored(op.input), op.result_shape(), op.offset.value.data
        row, column = two_dims(op.dim1, op.dim2, input.rank)
        *others, along = axes_of(len(shape))
        own = {row: along - min(offset, 0), column: along + max(offset, 0)}
        rest = iter(others)
        return input.view([own[d] if d in own else next(rest) for d in range(input.rank)], shape)


class DiagEmbed(Decomposition[torch.DiagEmbedOp]):
    """
    Decomposition of `diag_embed`: the input where the column is `offset` after the row, and 0
    elsewhere.
    """

    def decompose(self, op: torch.DiagEmbedOp, emit: Emitter) -> Tensor:
        input, shape, offset = emit.stored(op.input), op.result_shape(), op.offset.value.data
        row, column = two_dims(op.dim1, op.dim2, len(shape))
        axes = axes_of(len(shape))
        along = axes[row] if offset >= 0 else axes[column]
        bounds = equal(axes[column], axes[row] + offset)
        return masked_view(input, [*without(axes, row, column), along], bounds, shape, 0)


class Triangle(Decomposition[torch.TriangleOp]):
    """
    Decomposition of `triu` and `tril`: the input on and above a diagonal (`side` is 1) or on and
    below it (-1), and 0 elsewhere.
    """

    def __init__(self, side: int):
        self.side = side

    def decompose(self, op: torch.TriangleOp, emit: Emitter) -> Tensor:
        input = emit.stored(op.input)
        *_, row, column = axes = axes_of(input.rank)
        above = column - row - op.diagonal.value.data
        return masked_view(input, axes, [above * self.side], input.shape, 0)


class Unfold(Decomposition[torch.UnfoldOp]):
    """
    Decomposition of `unfold`: a dimension becomes the starts of windows, and a last dimension the
    positions within a window.
    """

    def decompose(self, op: torch.UnfoldOp, emit: Emitter) -> Tensor:
        input, shape = emit.stored(op.input), op.result_shape()
        *coordinates, within = axes_of(len(shape))
        if input.shape:
            dim = op.dimension.value.data % input.rank
            coordinates[dim] = coordinates[dim] * op.step.value.data + within
        return input.view(coordinates, shape)


class Flip(Decomposition[torch.FlipOp]):
    """Decomposition of `flip`: some dimensions from last to first."""

    def decompose(self, op: torch.FlipOp, emit: Emitter) -> Tensor:
        input = emit.stored(op.input)
        flipped = torch.wrap_dims(op.dims.get_values(), input.rank)
        coordinates = [
            axis * -1 + (size - 1) if dim in flipped else axis
            for dim, (axis, size) in enumerate(zip(axes_of(input.rank), input.shape, strict=True))
        ]
        return input.view(coordinates, input.shape)


class Roll(Decomposition[torch.RollOp]):
    """
    Decomposition of `roll`: each element comes from `shift` positions before it, modulo the size.
    """

    def decompose(self, op: torch.RollOp, emit: Emitter) -> Tensor:
        input, shape = emit.stored(op.input), op.result_shape()
        coordinates, shifts, dims = (
            axes_of(len(shape)),
            op.shifts.get_values(),
            op.dims.get_values(),
        )
        if not dims:
            offset = _rolled(linearize(coordinates, shape), shifts[0], prod(shape))
            return input.view(delinearize(offset, shape), shape)
        for dim, shift in zip(dims, shifts, strict=True):
            coordinates[dim] = _rolled(coordinates[dim], shift, shape[dim])
        return input.view(coordinates, shape)


def _rolled(position: AffineExpr, shift: int, size: int) -> AffineExpr:
    return (position + (-shift) % size) % size if size else position


PATTERNS: Table = {
    torch.SliceOp: Slice(),
    torch.SelectOp: Select(),
    torch.DiagonalOp: Diagonal(),
    torch.DiagEmbedOp: DiagEmbed(),
    torch.TrilOp: Triangle(-1),
    torch.TriuOp: Triangle(1),
    torch.UnfoldOp: Unfold(),
    torch.FlipOp: Flip(),
    torch.RollOp: Roll(),
}
