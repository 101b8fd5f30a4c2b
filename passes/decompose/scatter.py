# SPDX-License-Identifier: Apache-2.0
"""
Decompositions that write at subscripts which are elements of tensors.

    %3 = torch.scatter_add %0, %1, %2 dim 1
        : (tensor<4x8xf32>, tensor<4x3xi64>, tensor<4x3xf32>) -> tensor<4x8xf32>

becomes

    %3 = prim.scatter %2 to %0[%1] with add by affine_map<(d0, d1)[s0] -> (d0, s0)>
        : (tensor<4x3xf32>, tensor<4x8xf32>, tensor<4x3xi64>) -> tensor<4x8xf32>

A subscript outside of its axis is an error at every level.
"""

from math import prod

from xdsl.dialects.builtin import i1

from tilewright.dialects import torch
from tilewright.dialects.element_types import FLOATS
from tilewright.dialects.torch.op import python_value
from tilewright.passes.decompose.decomposition import Decomposition, Table
from tilewright.passes.decompose.elementwise import scaled
from tilewright.passes.decompose.indexing import (
    Subscripts,
    along,
    at_least_vector,
    indexed,
    slices,
    wrapped,
)
from tilewright.passes.decompose.tensor import Emitter, Tensor
from tilewright.passes.decompose.updates import Write, monoid_of, number_of

# --- Subscripts along one dimension, one for each update -------------------------------------

TensorScatter = torch.ScatterOp | torch.ScatterAddOp | torch.ScatterJoinOp | torch.ScatterReduceOp
ValueScatter = torch.ScatterValueOp | torch.ScatterValueJoinOp


def _scattered(op: TensorScatter | ValueScatter, emit: Emitter) -> Write:
    """Return the updates of a scatter and their subscripts along one dimension."""
    input, index = at_least_vector(emit(op.input)), at_least_vector(emit.stored(op.index))
    subscripts = along(torch.wrap_dim(op.dim.value.data, input.rank), index)
    if isinstance(op, ValueScatter):
        value = number_of(emit, emit(op.value), input)
        return Write(input, subscripts, value.broadcast(index.shape))
    src = at_least_vector(emit(op.src))
    if 0 in index.shape:
        return Write(input, subscripts, index)
    for dim, size in enumerate(index.shape):
        src = src.slice(dim, 0, size)
    return Write(input, subscripts, src)


class Scatter(Decomposition[torch.ScatterOp | torch.ScatterValueOp]):
    """Decomposition of `scatter`: elements are replaced."""

    def decompose(self, op: torch.ScatterOp | torch.ScatterValueOp, emit: Emitter) -> Tensor:
        return _scattered(op, emit).put().reshape(op.result_shape())


class ScatterAdd(Decomposition[torch.ScatterAddOp]):
    """Decomposition of `scatter_add`: updates are added to elements."""

    def decompose(self, op: torch.ScatterAddOp, emit: Emitter) -> Tensor:
        added = _scattered(op, emit).joined(monoid_of("add", emit.common))
        return added.reshape(op.result_shape())


class ScatterJoin(Decomposition[torch.ScatterJoinOp | torch.ScatterValueJoinOp]):
    """Decomposition of `scatter` with `reduce`: updates are added to elements, or multiply them."""

    def decompose(
        self, op: torch.ScatterJoinOp | torch.ScatterValueJoinOp, emit: Emitter
    ) -> Tensor:
        joined = _scattered(op, emit).joined(monoid_of(op.reduce.data, emit.common))
        return joined.reshape(op.result_shape())


class ScatterReduce(Decomposition[torch.ScatterReduceOp]):
    """
    Decomposition of `scatter_reduce`: updates are combined with elements by `reduce`. Without
    `include_self`, only the updates of an element are combined, and replace it.
    """

    def decompose(self, op: torch.ScatterReduceOp, emit: Emitter) -> Tensor:
        include_self = bool(python_value(op.include_self))
        reduced = _scattered(op, emit).reduced(op.reduce.data, include_self)
        return reduced.reshape(op.result_shape())


# --- Slices along one dimension --------------------------------------------------------------


def _sliced(op: torch.SliceWritingOp, emit: Emitter) -> Write:
    """Return the updates of whole slices along a dimension, and their subscripts."""
    input, source = (at_least_vector(emit(value)) for value in (op.input, op.source))
    dim = torch.wrap_dim(op.dim.value.data, input.rank)
    index = at_least_vector(emit.stored(op.index))
    return Write(input, slices(input.rank, dim, index), source)


class IndexCopy(Decomposition[torch.IndexCopyOp]):
    """Decomposition of `index_copy`: slices are replaced."""

    def decompose(self, op: torch.IndexCopyOp, emit: Emitter) -> Tensor:
        return _sliced(op, emit).put().reshape(op.result_shape())


class IndexAdd(Decomposition[torch.IndexAddOp]):
    """Decomposition of `index_add`: scaled updates are added to slices."""

    def decompose(self, op: torch.IndexAddOp, emit: Emitter) -> Tensor:
        write, alpha = _sliced(op, emit), emit(op.alpha)
        if emit.common == i1:
            write.updates = write.updates if alpha else write.updates & 0
        else:
            factor = alpha if emit.common in FLOATS else int(alpha)
            write.updates = scaled(write.updates, factor)
        return write.joined(monoid_of("add", emit.common)).reshape(op.result_shape())


class IndexReduce(Decomposition[torch.IndexReduceOp]):
    """
    Decomposition of `index_reduce`: updates are combined with slices by `reduce`. Without
    `include_self`, only the updates of a slice are combined, and replace it.
    """

    def decompose(self, op: torch.IndexReduceOp, emit: Emitter) -> Tensor:
        include_self = bool(python_value(op.include_self))
        reduced = _sliced(op, emit).reduced(op.reduce.data, include_self)
        return reduced.reshape(op.result_shape())


class IndexFill(Decomposition[torch.IndexFillOp | torch.IndexFillScalarOp]):
    """Decomposition of `index_fill`: slices are filled with one value."""

    def decompose(self, op: torch.IndexFillOp | torch.IndexFillScalarOp, emit: Emitter) -> Tensor:
        input, index = at_least_vector(emit(op.input)), at_least_vector(emit.stored(op.index))
        dim = torch.wrap_dim(op.dim.value.data, input.rank)
        shape = (*input.shape[:dim], *index.shape, *input.shape[dim + 1 :])
        if isinstance(op, torch.IndexFillOp):
            value = emit(op.value)
        else:
            value = number_of(emit, emit(op.value), input)
        subscripts = slices(input.rank, dim, wrapped(index, input.shape[dim]))
        return Write(input, subscripts, value.broadcast(shape)).put().reshape(op.result_shape())


# --- Subscripts of several dimensions --------------------------------------------------------


class IndexPut(Decomposition[torch.IndexPutLikeOp]):
    """Decomposition of `index_put`: `input[..., indices, ...] = values`, or `+= values`."""

    def decompose(self, op: torch.IndexPutLikeOp, emit: Emitter) -> Tensor:
        input, at = emit(op.input), op.indices_at.get_values()
        subscripts, shape = indexed(emit, input.shape, op.indices, at)
        write = Write(input, subscripts, emit(op.values).broadcast(shape))
        accumulate = bool(python_value(op.accumulate))
        return write.joined(monoid_of("add", emit.common)) if accumulate else write.put()


class Put(Decomposition[torch.PutOp]):
    """Decomposition of `put`: elements of the flattened input are replaced, or added to."""

    def decompose(self, op: torch.PutOp, emit: Emitter) -> Tensor:
        input, index, source = emit(op.input), emit.stored(op.index), emit(op.source)
        size, count = prod(input.shape), prod(index.shape)
        subscripts: Subscripts = [wrapped(index.reshape((count,)), size)]
        write = Write(input.reshape((size,)), subscripts, source.reshape((count,)))
        accumulate = bool(python_value(op.accumulate))
        put = write.joined(monoid_of("add", emit.common)) if accumulate else write.put()
        return put.reshape(input.shape)


PATTERNS: Table = {
    torch.ScatterOp: Scatter(),
    torch.ScatterValueOp: Scatter(),
    torch.ScatterAddOp: ScatterAdd(),
    torch.ScatterJoinOp: ScatterJoin(),
    torch.ScatterValueJoinOp: ScatterJoin(),
    torch.ScatterReduceOp: ScatterReduce(),
    torch.IndexCopyOp: IndexCopy(),
    torch.IndexAddOp: IndexAdd(),
    torch.IndexReduceOp: IndexReduce(),
    torch.IndexFillOp: IndexFill(),
    torch.IndexFillScalarOp: IndexFill(),
    torch.IndexPutOp: IndexPut(),
    torch.UnsafeIndexPutOp: IndexPut(),
    torch.PutOp: Put(),
}
