# SPDX-License-Identifier: Apache-2.0
"""Torch ops that multiply matrices."""

from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.torch_op import TensorOp, number, opt_tensor, tensor, torch_op
from tilewright.dialects.torch_shapes import broadcast, check_expands, shape_of, shown


def _check_rank(shape: tuple[int, ...], rank: int, name: str) -> None:
    if len(shape) != rank:
        raise VerifyException(f"{name} has rank {rank}, not the shape {shown(shape)}")


def _product(left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of the matrix product of ...xMxK and ...xKxN, whose batches are broadcast."""
    if left[-1] != right[-2]:
        raise VerifyException(
            f"{shown(left)} times {shown(right)}: the inner sizes {left[-1]} and {right[-2]} differ"
        )
    return (*broadcast(left[:-2], right[:-2]), left[-2], right[-1])


@torch_op("matmul")
class MatmulOp(TensorOp):
    """
    The matrix product; a vector stands for a row (left) or a column (right), batches broadcast.

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
class MmOp(TensorOp):
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
class BmmOp(TensorOp):
    """
    The products of two equally long batches of matrices.

        %2 = torch.bmm %0, %1 : (tensor<2x4x8xf32>, tensor<2x8x16xf32>) -> tensor<2x4x16xf32>
    """

    input = tensor()
    mat2 = tensor()

    def result_shape(self) -> tuple[int, ...]:
        left, right = shape_of(self.input), shape_of(self.mat2)
        _check_rank(left, 3, "input")
        _check_rank(right, 3, "mat2")
        if left[0] != right[0]:
            raise VerifyException(f"the batches {left[0]} and {right[0]} differ: use matmul")
        return _product(left, right)


@torch_op("addmm")
class AddmmOp(TensorOp):
    """
    beta * input + alpha * (mat1 @ mat2); beta 0 ignores input, NaN included.

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


@torch_op("linear")
class LinearOp(TensorOp):
    """
    input @ weight^T + bias; the weight is OUTxIN or, for one output without its size, IN.

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
