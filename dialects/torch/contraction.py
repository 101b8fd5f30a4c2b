# SPDX-License-Identifier: Apache-2.0
"""Torch ops that multiply matrices and vectors."""

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.torch.op import TensorOp, number, opt_tensor, tensor, torch_op
from tilewright.dialects.torch.shapes import broadcast, check_expands, shown
from tilewright.dialects.types import element_of, shape_of


class ContractionOp(TensorOp):
    """Base class of ops that compute sums of products, of operands with one dtype."""

    def result_element(self) -> Attribute:
        """
        Return the dtype that all operands share; raise `VerifyException` if they differ, or for
        bool.
        """
        elements = [*map(element_of, self.operands)]
        if len({*elements}) > 1:
            raise VerifyException(
                f"{self.name} of {' and '.join(map(str, elements))}: cast the operands to one dtype"
            )
        if i1 in elements:
            raise VerifyException(f"{self.name} is not defined for bool: cast the operands")
        return elements[0]


def _check_rank(shape: tuple[int, ...], rank: int, name: str) -> None:
    if len(shape) != rank:
        raise VerifyException(f"{name} has rank {rank}, not the shape {shown(shape)}")


def _product(left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of the matrix product of ...xMxK and ...xKxN, whose batches broadcast."""
    if left[-1] != right[-2]:
        raise VerifyException(
            f"{shown(left)} times {shown(right)}: the inner sizes {left[-1]} and {right[-2]} differ"
        )
    return (*broadcast(left[:-2], right[:-2]), left[-2], right[-1])


def _batched_product(left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of the product of two batches of matrices, BxMxK and BxKxN."""
    _check_rank(left, 3, "the first batch")
    _check_rank(right, 3, "the second batch")
    if left[0] != right[0]:
        raise VerifyException(f"the batches {left[0]} and {right[0]} differ: use matmul")
    return _product(left, right)


@torch_op("matmul")
class MatmulOp(ContractionOp):
    """
    The matrix product; a vector counts as a row (left) or a column (right), batches broadcast.

        %2 = torch.matmul %0, %1 : (tensor<2x4x8xf32>, tensor<8x16xf32>) -> tensor<2x4x16xf32>
    """

    input = tensor()
    other = tensor()

    def result_shape(self) -> tuple[int, ...]:
        left, right = shape_of(self.input), shape_of(self.other)
        if not left or not right:
            raise VerifyException("a scalar has no matrix product: use torch.mul")
        row, column = len(left) == 1, len(right) == 1
        *batch, m, n = _product((1, *left) if row else left, (*right, 1) if column else right)
        return (*batch, *(() if row else (m,)), *(() if column else (n,)))


@torch_op("mm")
class MmOp(ContractionOp):
    """
    The product of two matrices.

        %2 = torch.mm %0, %1 : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    """

    input = tensor()
    mat2 = tensor()

    def result_shape(self) -> tuple[int, ...]:
        left, right = shape_of(self.input), shape_of(self.mat2)
        _check_rank(left, 2, "input")
        _check_rank(right, 2, "mat2")
        return _product(left, right)


@torch_op("bmm")
class BmmOp(ContractionOp):
    """
    The products of two batches of matrices with equally many matrices.

        %2 = torch.bmm %0, %1 : (tensor<2x4x8xf32>, tensor<2x8x16xf32>) -> tensor<2x4x16xf32>
    """

    input = tensor()
    mat2 = tensor()

    def result_shape(self) -> tuple[int, ...]:
        return _batched_product(shape_of(self.input), shape_of(self.mat2))


@torch_op("mv")
class MvOp(ContractionOp):
    """
    The product of a matrix and a vector.

        %2 = torch.mv %0, %1 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4xf32>
    """

    input = tensor()
    vec = tensor()

    def result_shape(self) -> tuple[int, ...]:
        return _product_with_vector(shape_of(self.input), shape_of(self.vec))


def _product_with_vector(matrix: tuple[int, ...], vector: tuple[int, ...]) -> tuple[int, ...]:
    _check_rank(matrix, 2, "the matrix")
    _check_rank(vector, 1, "vec")
    return _product(matrix, (*vector, 1))[:1]


@torch_op("dot")
class DotOp(ContractionOp):
    """
    The dot product of two vectors.

        %2 = torch.dot %0, %1 : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
    """

    input = tensor()
    tensor = tensor()

    def result_shape(self) -> tuple[int, ...]:
        left, right = shape_of(self.input), shape_of(self.tensor)
        _check_rank(left, 1, "input")
        _check_rank(right, 1, "tensor")
        return _product((1, *left), (*right, 1))[:0]


@torch_op("addmm")
class AddmmOp(ContractionOp):
    """
    beta * input + alpha * (mat1 @ mat2); with beta 0, input is ignored, even if NaN.

        %3 = torch.addmm %0, %1, %2 beta 0.5
            : (tensor<16xf32>, tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    """

    input = tensor()
    mat1 = tensor()
    mat2 = tensor()
    beta = number(1)
    alpha = number(1)

    def result_shape(self) -> tuple[int, ...]:
        left, right = shape_of(self.mat1), shape_of(self.mat2)
        _check_rank(left, 2, "mat1")
        _check_rank(right, 2, "mat2")
        result = _product(left, right)
        check_expands(shape_of(self.input), result, "input")
        return result


@torch_op("addmv")
class AddmvOp(ContractionOp):
    """
    beta * input + alpha * (mat @ vec); with beta 0, input is ignored, even if NaN.

        %3 = torch.addmv %0, %1, %2 alpha 2.0
            : (tensor<4xf32>, tensor<4x8xf32>, tensor<8xf32>) -> tensor<4xf32>
    """

    input = tensor()
    mat = tensor()
    vec = tensor()
    beta = number(1)
    alpha = number(1)

    def result_shape(self) -> tuple[int, ...]:
        result = _product_with_vector(shape_of(self.mat), shape_of(self.vec))
        check_expands(shape_of(self.input), result, "input")
        return result


@torch_op("addbmm")
class AddbmmOp(ContractionOp):
    """
    beta * input + alpha * sum(batch1 @ batch2 over the batch); with beta 0, input is ignored.

        %3 = torch.addbmm %0, %1, %2
            : (tensor<4x16xf32>, tensor<2x4x8xf32>, tensor<2x8x16xf32>) -> tensor<4x16xf32>
    """

    input = tensor()
    batch1 = tensor()
    batch2 = tensor()
    beta = number(1)
    alpha = number(1)

    def result_shape(self) -> tuple[int, ...]:
        result = _batched_product(shape_of(self.batch1), shape_of(self.batch2))[1:]
        check_expands(shape_of(self.input), result, "input")
        return result


@torch_op("baddbmm")
class BaddbmmOp(ContractionOp):
    """
    beta * input + alpha * (batch1 @ batch2); with beta 0, input is ignored, even if NaN.

        %3 = torch.baddbmm %0, %1, %2 beta 0
            : (tensor<16xf32>, tensor<2x4x8xf32>, tensor<2x8x16xf32>) -> tensor<2x4x16xf32>
    """

    input = tensor()
    batch1 = tensor()
    batch2 = tensor()
    beta = number(1)
    alpha = number(1)

    def result_shape(self) -> tuple[int, ...]:
        result = _batched_product(shape_of(self.batch1), shape_of(self.batch2))
        check_expands(shape_of(self.input), result, "input")
        return result


@torch_op("linear")
class LinearOp(ContractionOp):
    """
    input @ weight^T + bias; weight is OUTxIN, or a vector IN for a single output.

        %3 = torch.linear %0, %1 bias %2
            : (tensor<4x8xf32>, tensor<16x8xf32>, tensor<16xf32>) -> tensor<4x16xf32>
    """

    input = tensor()
    weight = tensor()
    bias = opt_tensor()

    def result_shape(self) -> tuple[int, ...]:
        shape, weight = shape_of(self.input), shape_of(self.weight)
        if not shape or len(weight) not in (1, 2) or shape[-1] != weight[-1]:
            raise VerifyException(
                f"a weight of shape {shown(weight)} does not fit an input of {shown(shape)}: "
                "their last sizes must be equal"
            )
        result = (*shape[:-1], *weight[:-1])
        if self.bias is not None:
            check_expands(shape_of(self.bias), result, "bias")
        return result


@torch_op("bilinear")
class BilinearOp(ContractionOp):
    """
    input1 @ weight[o] @ input2 for each output o, + bias; weight is OUTxIN1xIN2.

        %3 = torch.bilinear %0, %1, %2
            : (tensor<4x8xf32>, tensor<4x6xf32>, tensor<5x8x6xf32>) -> tensor<4x5xf32>
    """

    input1 = tensor()
    input2 = tensor()
    weight = tensor()
    bias = opt_tensor()

    def result_shape(self) -> tuple[int, ...]:
        left, right, weight = map(shape_of, (self.input1, self.input2, self.weight))
        _check_rank(weight, 3, "weight")
        if not left or left[:-1] != right[:-1] or (*left[-1:], *right[-1:]) != weight[1:]:
            raise VerifyException(
                f"inputs of {shown(left)} and {shown(right)} do not fit a weight of {shown(weight)}"
            )
        if self.bias is not None and shape_of(self.bias) != weight[:1]:
            raise VerifyException(f"bias has shape {weight[0]}, not {shown(shape_of(self.bias))}")
        return (*left[:-1], weight[0])
