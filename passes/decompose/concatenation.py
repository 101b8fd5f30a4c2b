# SPDX-License-Identifier: Apache-2.0
"""
Decompositions that split tensors, join them, or put one into another: index maps of several
sources.

    %2 = torch.cat %0, %1 : (tensor<4xf32>, tensor<2xf32>) -> tensor<6xf32>

becomes

    %2 = prim.index_map %0 by affine_map<(d0) -> (d0)> where affine_map<(d0) -> (((d0 * -1) + 3))>,
        %1 by affine_map<(d0) -> ((d0 + -4))> where affine_map<(d0) -> ((d0 + -4))>
        else 0.000000e+00 : f32 : (tensor<4xf32>, tensor<2xf32>) -> tensor<6xf32>
"""

from collections.abc import Sequence

from xdsl.ir.affine import AffineExpr

from tilewright.dialects import torch
from tilewright.dialects.torch.slicing import sliced, two_dims, wrap_index
from tilewright.dialects.types import shape_of
from tilewright.passes.decompose.decomposition import Decomposition, Table
from tilewright.passes.decompose.overlay import concatenate, overlay
from tilewright.passes.decompose.padding import within
from tilewright.passes.decompose.slicing import at, equal, without
from tilewright.passes.decompose.tensor import Emitter, Tensor
from tilewright.passes.decompose.view import axes_of


class Split(Decomposition[torch.SplittingOp]):
    """Decomposition of splits: one slice for each part."""

    def decompose(self, op: torch.SplittingOp, emit: Emitter) -> Sequence[Tensor]:
        input = emit.stored(op.input)
        dim = op.dim.value.data % input.rank
        parts, start = list[Tensor](), 0
        for size in op.sizes(input.shape[dim]):
            parts.append(input.slice(dim, start, size))
            start += size
        return parts


class Unbind(Decomposition[torch.UnbindOp]):
    """Decomposition of `unbind`: one position of a dimension for each part."""

    def decompose(self, op: torch.UnbindOp, emit: Emitter) -> Sequence[Tensor]:
        input = emit.stored(op.input)
        dim = op.dim.value.data % input.rank
        return [at(input, dim, index) for index in range(input.shape[dim])]


class Cat(Decomposition[torch.CatOp]):
    """
    Decomposition of `cat`: tensors one after another. Tensors of shape (0,) are skipped; they may
    stand beside tensors of any shape.
    """

    def decompose(self, op: torch.CatOp, emit: Emitter) -> Tensor:
        tensors = [emit.stored(value).cast(emit.common) for value in op.tensors]
        tensors = [tensor for tensor in tensors if tensor.shape != (0,)] or tensors[:1]
        return concatenate(tensors, op.dim.value.data % tensors[0].rank)


class Stack(Decomposition[torch.StackOp]):
    """Decomposition of `stack`: tensors one after another along a new dimension."""

    def decompose(self, op: torch.StackOp, emit: Emitter) -> Tensor:
        tensors = [emit.stored(value).cast(emit.common) for value in op.tensors]
        dim = op.dim.value.data % (tensors[0].rank + 1)
        return concatenate([tensor.unsqueeze([dim]) for tensor in tensors], dim)


def put(
    op: torch.ScatteringOp,
    emit: Emitter,
    coordinates: Sequence[AffineExpr],
    bounds: Sequence[AffineExpr],
) -> Tensor:
    """Return `src` at `coordinates` where all `bounds` are at least 0, and the input elsewhere."""
    input, src = emit.stored(op.input), emit.stored(op.src).cast(emit.common)
    return overlay([(src.view(coordinates, input.shape), bounds), (input, [])])


class SelectScatter(Decomposition[torch.SelectScatterOp]):
    """Decomposition of `select_scatter`: `src` replaces one position of a dimension."""

    def decompose(self, op: torch.SelectScatterOp, emit: Emitter) -> Tensor:
        shape = shape_of(op.input)
        axes, dim = axes_of(len(shape)), op.dim.value.data % len(shape)
        index = wrap_index(op.index.value.data, shape[dim])
        return put(op, emit, without(axes, dim), equal(axes[dim], AffineExpr.constant(index)))


class SliceScatter(Decomposition[torch.SliceScatterOp]):
    """
    Decomposition of `slice_scatter`: `src` replaces every n-th position of a range of a dimension,
    for a step n.
    """

    def decompose(self, op: torch.SliceScatterOp, emit: Emitter) -> Tensor:
        shape = shape_of(op.input)
        axes, dim = axes_of(len(shape)), op.dim.value.data % len(shape)
        positions = sliced(op.start, op.end, op.step, shape[dim])
        after = axes[dim] - positions.start
        bounds = [*within(after // positions.step, len(positions)), (after % positions.step) * -1]
        axes[dim] = after // positions.step
        return put(op, emit, axes, bounds)


class DiagonalScatter(Decomposition[torch.DiagonalScatterOp]):
    """
    Decomposition of `diagonal_scatter`: `src` replaces the elements whose column is `offset` after
    their row.
    """

    def decompose(self, op: torch.DiagonalScatterOp, emit: Emitter) -> Tensor:
        axes, offset = axes_of(len(shape_of(op.input))), op.offset.value.data
        row, column = two_dims(op.dim1, op.dim2, len(axes))
        along = axes[row] if offset >= 0 else axes[column]
        bounds = equal(axes[column], axes[row] + offset)
        return put(op, emit, [*without(axes, row, column), along], bounds)


class Copy(Decomposition[torch.CopyOp]):
    """Decomposition of `copy`: `src` replaces the whole input."""

    def decompose(self, op: torch.CopyOp, emit: Emitter) -> Tensor:
        return emit.stored(op.src).cast(emit.common).broadcast(op.result_shape())


PATTERNS: Table = {
    torch.SplitOp: Split(),
    torch.SplitWithSizesOp: Split(),
    torch.UnbindOp: Unbind(),
    torch.CatOp: Cat(),
    torch.StackOp: Stack(),
    torch.SelectScatterOp: SelectScatter(),
    torch.SliceScatterOp: SliceScatter(),
    torch.DiagonalScatterOp: DiagonalScatter(),
    torch.CopyOp: Copy(),
}
