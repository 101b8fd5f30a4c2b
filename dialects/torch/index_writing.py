# SPDX-License-Identifier: Apache-2.0
"""Torch ops that write slices, or elements, where vectors of subscripts say."""

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
    """Writes the slices of source along `dim` where index, a vector, says."""

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
                f"{count} slices of {shown(input)} along {dim} have not the shape {shown(source)}"
            )
        return input


@torch_op("index_copy")
class IndexCopyOp(SliceWritingOp):
    """
    input with slices replaced by those of source; of several the last stays.

        %3 = torch.index_copy %0, %1, %2 dim 0
            : (tensor<4x8xf32>, tensor<2xi64>, tensor<2x8xf32>) -> tensor<4x8xf32>
    """

    def result_shape(self) -> tuple[int, ...]:
        check_index(self.index, i64)
        return super().result_shape()


@torch_op("index_add")
class IndexAddOp(SliceWritingOp):
    """
    input with slices of alpha * source added to it.

        %3 = torch.index_add %0, %1, %2 dim 0 alpha 2
            : (tensor<4x8xf32>, tensor<2xi64>, tensor<2x8xf32>) -> tensor<4x8xf32>
    """

    alpha = number(1)


@torch_op("index_reduce")
class IndexReduceOp(SliceWritingOp):
    """
    input with slices of source joined to it, or to each other alone without `include_self`.

        %3 = torch.index_reduce %0, %1, %2 dim 0 reduce "prod"
            : (tensor<4x8xf32>, tensor<2xi64>, tensor<2x8xf32>) -> tensor<4x8xf32>
    """

    reduce = text()
    include_self = boolean(True)

    def result_shape(self) -> tuple[int, ...]:
        check_reduction(self.reduce, self.result_element(), REDUCTIONS[1:])
        if self.result_element() == i1:
            raise VerifyException("PyTorch joins no slices of i1: convert them")
        return super().result_shape()


class SliceFillingOp(WritingOp):
    """Writes one value to the slices along `dim` that index, a vector, names."""

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
    input with slices replaced by a number; from the end where an index is negative.

        %2 = torch.index_fill.int_Scalar %0, %1 dim 0 value 2.0
            : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<4x8xf32>
    """

    value = number()


@torch_op("index_fill.int_Tensor")
class IndexFillOp(SliceFillingOp):
    """
    input with slices replaced by a scalar's value; from the end where an index is negative.

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
    input with values, broadcast to the shape of `input[indices]`, put or added to its elements.
    Of several that replace one the last stays. Negative subscripts count from the end.
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
    input with input[:, indices] = values.

        %3 = torch.index_put %0, %1 indices(%2) indices_at [1] accumulate true
            : (tensor<4x8xi64>, tensor<3xi64>, tensor<3xi64>) -> tensor<4x8xi64>
    """


@torch_op("_unsafe_index_put")
class UnsafeIndexPutOp(IndexPutLikeOp):
    """
    input with input[:, indices] = values, by a promise of PyTorch's decompositions within bounds.

        %3 = torch._unsafe_index_put %0, %1 indices(%2) indices_at [1]
            : (tensor<4x8xi64>, tensor<3xi64>, tensor<3xi64>) -> tensor<4x8xi64>
    """


@torch_op("put")
class PutOp(WritingOp):
    """
    input, taken as a vector, with elements of source put, or added, where index says; from the
    end where it is negative.

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
