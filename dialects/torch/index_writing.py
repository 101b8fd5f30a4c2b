# SPDX-License-Identifier: Apache-2.0
"""Torch ops that write slices or elements at subscripts given by index tensors."""

from math import prod

from xdsl.dialects.builtin import i1, i64
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.torch.indexing import (
    as_vector,
    check_index,
    check_reachable,
    check_vector,
    indexed_shape,
)
from tilewright.dialects.torch.op import (
    boolean,
    integer,
    integers,
    number,
    tensor,
    tensors,
    text,
    torch_op,
)
from tilewright.dialects.torch.scatter import REDUCTIONS, WritingOp, check_reduction
from tilewright.dialects.torch.shapes import check_expands, shown, wrap_dim
from tilewright.dialects.types import shape_of

# --- Slices along one dimension --------------------------------------------------------------


class SliceWritingOp(WritingOp):
    """
    Base class of ops that write slices of source along `dim` to the positions in index, a vector.
    """

    input = tensor()
    dim = integer()
    index = tensor()
    source = tensor()

    def result_shape(self) -> tuple[int, ...]:
        check_index(self.index)
        self.check_element(self.source)
        input, source = shape_of(self.input), as_vector(shape_of(self.source))
        dim, count = wrap_dim(self.dim.value.data, len(input)), check_vector(self.index)
        sizes = as_vector(input)
        check_reachable(sizes[dim], self.index)
        if source != (*sizes[:dim], count, *sizes[dim + 1 :]):
            raise VerifyException(
                f"{count} slices of {shown(input)} along {dim} do not have the shape "
                f"{shown(source)}"
            )
        return input


@torch_op("index_copy")
class IndexCopyOp(SliceWritingOp):
    """
    input with slices along `dim` replaced by slices of source; for equal indices the last one
    remains.

        %3 = torch.index_copy %0, %1, %2 dim 0
            : (tensor<4x8xf32>, tensor<2xi64>, tensor<2x8xf32>) -> tensor<4x8xf32>
    """

    def result_shape(self) -> tuple[int, ...]:
        check_index(self.index, i64)
        return super().result_shape()


@torch_op("index_add")
class IndexAddOp(SliceWritingOp):
    """
    input with slices of alpha * source added to its slices along `dim`.

        %3 = torch.index_add %0, %1, %2 dim 0 alpha 2
            : (tensor<4x8xf32>, tensor<2xi64>, tensor<2x8xf32>) -> tensor<4x8xf32>
    """

    alpha = number(1)


@torch_op("index_reduce")
class IndexReduceOp(SliceWritingOp):
    """
    input with slices of source combined into its slices along `dim`, by the operation `reduce`.

    Without `include_self`, the old values of the written slices do not take part.

        %3 = torch.index_reduce %0, %1, %2 dim 0 reduce "prod"
            : (tensor<4x8xf32>, tensor<2xi64>, tensor<2x8xf32>) -> tensor<4x8xf32>
    """

    reduce = text()
    include_self = boolean(True)

    def result_shape(self) -> tuple[int, ...]:
        check_reduction(self.reduce, self.result_element(), REDUCTIONS[1:])
        if self.result_element() == i1:
            raise VerifyException("PyTorch does not reduce slices of i1: convert them")
        return super().result_shape()


class SliceFillingOp(WritingOp):
    """
    Base class of ops that write one value to the slices along `dim` at the positions in index, a
    vector.
    """

    input = tensor()
    dim = integer()
    index = tensor()

    def result_shape(self) -> tuple[int, ...]:
        check_index(self.index, i64)
        check_vector(self.index)
        input = shape_of(self.input)
        check_reachable(as_vector(input)[wrap_dim(self.dim.value.data, len(input))], self.index)
        return input


@torch_op("index_fill.int_Scalar")
class IndexFillScalarOp(SliceFillingOp):
    """
    input with slices along `dim` replaced by a number; a negative index counts from the end.

        %2 = torch.index_fill.int_Scalar %0, %1 dim 0 value 2.0
            : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<4x8xf32>
    """

    value = number()


@torch_op("index_fill.int_Tensor")
class IndexFillOp(SliceFillingOp):
    """
    input with slices along `dim` replaced by a scalar tensor; a negative index counts from the end.

        %3 = torch.index_fill.int_Tensor %0, %1, %2 dim 0
            : (tensor<4x8xf32>, tensor<2xi64>, tensor<f32>) -> tensor<4x8xf32>
    """

    value = tensor()

    def result_shape(self) -> tuple[int, ...]:
        if shape_of(self.value):
            raise VerifyException(f"the value is a scalar, not {shown(shape_of(self.value))}")
        return super().result_shape()


# --- Subscripts of several dimensions --------------------------------------------------------


class IndexPutLikeOp(WritingOp):
    """
    Base class of index_put: input with values stored to, or added to, the elements
    `input[indices]`.

    Values are broadcast to the shape of `input[indices]`. If several values replace one element,
    the last remains. Negative subscripts count from the end.
    """

    input = tensor()
    indices = tensors()
    values = tensor()
    accumulate = boolean(False)
    indices_at = integers()

    def result_shape(self) -> tuple[int, ...]:
        self.check_element(self.values)
        at, input = self.indices_at.get_values(), shape_of(self.input)
        target, _, _ = indexed_shape(input, self.indices, at)
        check_expands(shape_of(self.values), target, "values")
        return input


@torch_op("index_put")
class IndexPutOp(IndexPutLikeOp):
    """
    input after input[:, indices] = values; with `accumulate`, after input[:, indices] += values.

        %3 = torch.index_put %0, %1 indices(%2) indices_at [1] accumulate true
            : (tensor<4x8xi64>, tensor<3xi64>, tensor<3xi64>) -> tensor<4x8xi64>
    """


@torch_op("_unsafe_index_put")
class UnsafeIndexPutOp(IndexPutLikeOp):
    """
    index_put with indices that PyTorch's decompositions guarantee to be within bounds.

        %3 = torch._unsafe_index_put %0, %1 indices(%2) indices_at [1]
            : (tensor<4x8xi64>, tensor<3xi64>, tensor<3xi64>) -> tensor<4x8xi64>
    """


@torch_op("put")
class PutOp(WritingOp):
    """
    input with elements of source stored at, or added to, row-major positions in index.

    A negative index counts from the end.

        %3 = torch.put %0, %1, %2
            : (tensor<4x8xf32>, tensor<3xi64>, tensor<3xf32>) -> tensor<4x8xf32>
    """

    input = tensor()
    index = tensor()
    source = tensor()
    accumulate = boolean(False)

    def result_shape(self) -> tuple[int, ...]:
        check_index(self.index, i64)
        self.check_element(self.source)
        index, source = shape_of(self.index), shape_of(self.source)
        if prod(index) != prod(source):
            raise VerifyException(
                f"{prod(index)} subscripts need as many elements, not {prod(source)}"
            )
        check_reachable(prod(shape_of(self.input)), self.index)
        return shape_of(self.input)
