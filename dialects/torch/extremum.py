# SPDX-License-Identifier: Apache-2.0
"""
Torch ops that find the largest or the smallest element, and its position.

NaN counts as both the largest and the smallest; of equal elements the first one counts.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType, i1, i64
from xdsl.ir import Attribute
from xdsl.irdl import result_def
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.torch.op import (
    TENSOR,
    boolean,
    integer,
    integers,
    opt_integer,
    torch_op,
)
from tilewright.dialects.torch.reduction import ReducingOp, ReductionOp
from tilewright.dialects.torch.shapes import shown
from tilewright.dialects.types import element_of, shape_of


class ExtremeOp(ReducingOp):
    """Base class of ops that find extreme elements; a reduction over no elements is an error."""

    def reduced(self) -> tuple[int, ...]:
        shape, reduced = shape_of(self.input), super().reduced()
        if any(shape[dim] == 0 for dim in reduced):
            raise VerifyException(f"{self.name} of no elements has no value: {shown(shape)}")
        return reduced


class ExtremumOp(ExtremeOp, ReductionOp):
    """Base class of ops that return the extreme element."""


@torch_op("amax")
class AmaxOp(ExtremumOp):
    """
    The largest element along dimensions `dim`; along all if `dim` is empty.

        %1 = torch.amax %0 dim [1] : (tensor<4x8xf32>) -> tensor<4xf32>
    """

    dim = integers(())
    keepdim = boolean(False)


@torch_op("amin")
class AminOp(ExtremumOp):
    """
    The smallest element along dimensions `dim`; along all if `dim` is empty.

        %1 = torch.amin %0 : (tensor<4x8xf32>) -> tensor<f32>
    """

    dim = integers(())
    keepdim = boolean(False)


@torch_op("max")
class MaxOp(ExtremumOp):
    """
    The largest of all elements.

        %1 = torch.max %0 : (tensor<4x8xf32>) -> tensor<f32>
    """


@torch_op("min")
class MinOp(ExtremumOp):
    """
    The smallest of all elements.

        %1 = torch.min %0 : (tensor<4x8xf32>) -> tensor<f32>
    """


@torch_op("aminmax")
class AminmaxOp(ExtremeOp):
    """
    The smallest and the largest element, along `dim` or of all elements.

        %1, %2 = torch.aminmax %0 dim 1 : (tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    """

    dim = opt_integer()
    keepdim = boolean(False)
    min = result_def(TENSOR)
    max = result_def(TENSOR)

    def expected_types(self) -> Sequence[TensorType[Attribute]]:
        type = TensorType(element_of(self.input), self.reduced_shape())
        return [type, type]


class ExtremumDimOp(ExtremeOp):
    """Base class of ops that return the extreme element along a dimension, and its index there."""

    dim = integer()
    keepdim = boolean(False)
    values = result_def(TENSOR)
    indices = result_def(TENSOR)

    def expected_types(self) -> Sequence[TensorType[Attribute]]:
        shape = self.reduced_shape()
        return [TensorType(element_of(self.input), shape), TensorType(i64, shape)]


@torch_op("max.dim")
class MaxDimOp(ExtremumDimOp):
    """
    The largest element along `dim`, and its index there.

        %1, %2 = torch.max.dim %0 dim 1 : (tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xi64>)
    """


@torch_op("min.dim")
class MinDimOp(ExtremumDimOp):
    """
    The smallest element along `dim`, and its index there.

        %1, %2 = torch.min.dim %0 dim 1 : (tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xi64>)
    """


class ArgExtremumOp(ExtremeOp, ReductionOp):
    """
    Base class of ops that return the index of the extreme element along `dim`; row-major without
    `dim`.
    """

    dim = opt_integer()
    keepdim = boolean(False)

    def common_element(self) -> Attribute:
        return element_of(self.input)

    def result_element(self) -> Attribute:
        if element_of(self.input) == i1:
            raise VerifyException(f"{self.name} is not for bools: cast the input")
        return i64


@torch_op("argmax")
class ArgmaxOp(ArgExtremumOp):
    """
    The index of the largest element along `dim`; without `dim`, its index in row-major order.

        %1 = torch.argmax %0 dim 1 : (tensor<4x8xf32>) -> tensor<4xi64>
    """


@torch_op("argmin")
class ArgminOp(ArgExtremumOp):
    """
    The index of the smallest element along `dim`; without `dim`, its index in row-major order.

        %1 = torch.argmin %0 : (tensor<4x8xf32>) -> tensor<i64>
    """
