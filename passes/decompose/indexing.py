# SPDX-License-Identifier: Apache-2.0
"""
Decompositions that read at subscripts which are elements of tensors.

    %2 = torch.embedding %0, %1 : (tensor<100x8xf32>, tensor<4xi64>) -> tensor<4x8xf32>

becomes

    %i = prim.index_map %1 by affine_map<(d0, d1) -> (d0)> : tensor<4xi64> -> tensor<4x8xi64>
    %2 = prim.gather %0[%i] by affine_map<(d0, d1)[s0] -> (s0, d1)>
        : (tensor<100x8xf32>, tensor<4x8xi64>) -> tensor<4x8xf32>

A subscript outside of its axis is an error at every level.
"""

from collections.abc import Sequence
from math import prod

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from tilewright.dialects import torch
from tilewright.dialects.prim import ScalarFunction
from tilewright.dialects.types import shape_of
from tilewright.passes.decompose.decomposition import Decomposition, Table
from tilewright.passes.decompose.elementwise import elementwise
from tilewright.passes.decompose.subscripts import gather
from tilewright.passes.decompose.tensor import Emitter, Tensor
from tilewright.passes.decompose.view import Shape

Subscripts = list[Tensor | AffineExpr]
"""Subscript for each axis: data, or an expression of the coordinates."""


def axes(rank: int) -> list[AffineExpr]:
    """Return the coordinates of a tensor of `rank` dimensions."""
    return [AffineDimExpr(axis) for axis in range(rank)]


def wrapped(index: Tensor, size: int) -> Tensor:
    """Return subscripts of an axis of size `size`; negative ones count from the end."""
    return (index < 0).where(index + size, index)


def along(dim: int, index: Tensor) -> Subscripts:
    """
    Return the coordinates of `index`, with the elements of `index` in the place of coordinate
    `dim`.
    """
    return [index if axis == dim else e for axis, e in enumerate(axes(index.rank))]


def slices(rank: int, dim: int, index: Tensor) -> Subscripts:
    """Return subscripts of slices along `dim`, at the positions in the vector `index`."""
    rows = index.unsqueeze(range(1, rank - dim))
    return [rows if axis == dim else e for axis, e in enumerate(axes(rank))]


def at_least_vector(tensor: Tensor) -> Tensor:
    """Return the tensor; a scalar becomes a vector of one element."""
    return tensor.reshape(torch.as_vector(tensor.shape))


def indexed(
    emit: Emitter, shape: Shape, indices: Sequence[SSAValue], at: Sequence[int]
) -> tuple[Subscripts, Shape]:
    """
    Return the subscripts with which `input[..., indices, ...]` reads an input of shape `shape`, and
    the shape of the result. `torch.indexed_shape` has the rule.
    """
    result, start, count = torch.indexed_shape(shape, indices, at)
    coordinates = axes(len(result))
    rest = iter(coordinates[:start] + coordinates[start + count :])
    behind = range(count, len(result) - start)
    tensors = {
        dim: wrapped(_leading(emit.stored(index), count), shape[dim]).unsqueeze(behind)
        for dim, index in zip(at, indices, strict=True)
    }
    return [tensors.get(dim) or next(rest) for dim in range(len(shape))], result


def _leading(tensor: Tensor, rank: int) -> Tensor:
    """Return the tensor with dimensions of size 1 in front, up to `rank` dimensions."""
    return tensor.unsqueeze(range(rank - tensor.rank))


class Embedding(Decomposition[torch.EmbeddingOp]):
    """Decomposition of `embedding`: `weight[indices]`."""

    def decompose(self, op: torch.EmbeddingOp, emit: Emitter) -> Tensor:
        indices, shape = emit.stored(op.indices), op.result_shape()
        rows = indices.unsqueeze([indices.rank])
        return gather(emit.stored(op.weight), [rows, AffineDimExpr(indices.rank)], shape)


class Gather(Decomposition[torch.GatherOp]):
    """
    Decomposition of `gather`: reads the input at the coordinates of each element, except that
    `index` gives the coordinate `dim`.
    """

    def decompose(self, op: torch.GatherOp, emit: Emitter) -> Tensor:
        input, index = (at_least_vector(emit.stored(v)) for v in (op.input, op.index))
        dim = torch.wrap_dim(op.dim.value.data, input.rank)
        return _gathered(input, dim, index).reshape(shape_of(op.index))


def _gathered(input: Tensor, dim: int, index: Tensor) -> Tensor:
    if 0 in index.shape:  # an empty index may have any rank and sizes
        return input.emit.constant(0, index.shape, input.element)
    return gather(input, along(dim, index), index.shape)


class IndexSelect(Decomposition[torch.IndexSelectOp]):
    """
    Decomposition of `index_select`: slices of the input along a dimension, at the positions in
    `index`.
    """

    def decompose(self, op: torch.IndexSelectOp, emit: Emitter) -> Tensor:
        input, index = (at_least_vector(emit.stored(v)) for v in (op.input, op.index))
        dim = torch.wrap_dim(op.dim.value.data, input.rank)
        shape = (*input.shape[:dim], *index.shape, *input.shape[dim + 1 :])
        selected = gather(input, slices(input.rank, dim, index), shape)
        return selected.reshape(op.result_shape())


class Take(Decomposition[torch.TakeOp]):
    """Decomposition of `take`: elements of the flattened input."""

    def decompose(self, op: torch.TakeOp, emit: Emitter) -> Tensor:
        input, index = emit.stored(op.input), emit.stored(op.index)
        size = prod(input.shape)
        return gather(input.reshape((size,)), [wrapped(index, size)], index.shape)


class TakeAlongDim(Decomposition[torch.TakeAlongDimOp]):
    """Decomposition of `take_along_dim`: a gather whose operands are broadcast first."""

    def decompose(self, op: torch.TakeAlongDimOp, emit: Emitter) -> Tensor:
        input, indices = emit.stored(op.input), emit.stored(op.indices)
        if op.dim is None:
            vectors = (t.reshape((prod(t.shape),)) for t in (input, indices))
            return _gathered(next(vectors), 0, next(vectors))
        dim, shape = torch.wrap_dim(op.dim.value.data, input.rank), op.result_shape()
        size = input.shape[dim]
        if size:
            indices -= elementwise(ScalarFunction.FLOORDIV, indices, size) * size
        input = input.broadcast((*shape[:dim], size, *shape[dim + 1 :]))
        return _gathered(input, dim, indices.broadcast(shape))


class Index(Decomposition[torch.IndexLikeOp]):
    """Decomposition of `index`: `input[..., indices, ...]`."""

    def decompose(self, op: torch.IndexLikeOp, emit: Emitter) -> Tensor:
        input = emit.stored(op.input)
        at = op.indices_at.get_values()
        return gather(input, *indexed(emit, input.shape, op.indices, at))


class OneHot(Decomposition[torch.OneHotOp]):
    """
    Decomposition of `one_hot`: compares each element with all classes. A gather from the classes
    makes any other element an error.
    """

    def decompose(self, op: torch.OneHotOp, emit: Emitter) -> Tensor:
        input, shape = emit.stored(op.input), op.result_shape()
        classes = emit.iota(shape[-1:], 0)
        known = gather(classes, [input], input.shape)
        return known.unsqueeze([input.rank]).equals(classes)


PATTERNS: Table = {
    torch.EmbeddingOp: Embedding(),
    torch.GatherOp: Gather(),
    torch.IndexSelectOp: IndexSelect(),
    torch.TakeOp: Take(),
    torch.TakeAlongDimOp: TakeAlongDim(),
    torch.IndexOp: Index(),
    torch.UnsafeIndexOp: Index(),
    torch.OneHotOp: OneHot(),
}
