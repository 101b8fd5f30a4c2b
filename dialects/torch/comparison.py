# SPDX-License-Identifier: Apache-2.0
"""Torch ops that compare, and logical functions of truth values; all results are bools."""

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute

from tilewright.dialects.torch.elementwise import BinaryOp, PredicateUnaryOp, ScalarOp
from tilewright.dialects.torch.op import torch_op


class ComparisonOp(BinaryOp):
    """Base class of comparisons of the elements of two tensors."""

    def result_element(self) -> Attribute:
        return i1


class ComparisonScalarOp(ScalarOp):
    """Base class of comparisons of each element of a tensor with a number."""

    def result_element(self) -> Attribute:
        return i1


class LogicalOp(BinaryOp):
    """Base class of logical functions; of numbers, all but 0 count as true."""

    def result_element(self) -> Attribute:
        return i1


@torch_op("eq.Tensor")
class EqOp(ComparisonOp):
    """
    True where input and other are equal.

        %2 = torch.eq %0, %1 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
    """


@torch_op("eq.Scalar")
class EqScalarOp(ComparisonScalarOp):
    """
    True where input and the number other are equal.

        %1 = torch.eq.Scalar %0 other 2 : (tensor<4x8xf32>) -> tensor<4x8xi1>
    """


@torch_op("ne.Tensor")
class NeOp(ComparisonOp):
    """
    True where input and other differ; NaN differs from everything.

        %2 = torch.ne %0, %1 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
    """


@torch_op("ne.Scalar")
class NeScalarOp(ComparisonScalarOp):
    """
    True where input and the number other differ; NaN differs from everything.

        %1 = torch.ne.Scalar %0 other 2 : (tensor<4x8xf32>) -> tensor<4x8xi1>
    """


@torch_op("lt.Tensor")
class LtOp(ComparisonOp):
    """
    True where input is less than other.

        %2 = torch.lt %0, %1 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
    """


@torch_op("lt.Scalar")
class LtScalarOp(ComparisonScalarOp):
    """
    True where input is less than the number other.

        %1 = torch.lt.Scalar %0 other 2 : (tensor<4x8xf32>) -> tensor<4x8xi1>
    """


@torch_op("le.Tensor")
class LeOp(ComparisonOp):
    """
    True where input is less than or equal to other.

        %2 = torch.le %0, %1 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
    """


@torch_op("le.Scalar")
class LeScalarOp(ComparisonScalarOp):
    """
    True where input is less than or equal to the number other.

        %1 = torch.le.Scalar %0 other 2 : (tensor<4x8xf32>) -> tensor<4x8xi1>
    """


@torch_op("gt.Tensor")
class GtOp(ComparisonOp):
    """
    True where input is greater than other.

        %2 = torch.gt %0, %1 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
    """


@torch_op("gt.Scalar")
class GtScalarOp(ComparisonScalarOp):
    """
    True where input is greater than the number other.

        %1 = torch.gt.Scalar %0 other 2 : (tensor<4x8xf32>) -> tensor<4x8xi1>
    """


@torch_op("ge.Tensor")
class GeOp(ComparisonOp):
    """
    True where input is greater than or equal to other.

        %2 = torch.ge %0, %1 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
    """


@torch_op("ge.Scalar")
class GeScalarOp(ComparisonScalarOp):
    """
    True where input is greater than or equal to the number other.

        %1 = torch.ge.Scalar %0 other 2 : (tensor<4x8xf32>) -> tensor<4x8xi1>
    """


@torch_op("isnan")
class IsnanOp(PredicateUnaryOp):
    """
    True where input is NaN.

        %1 = torch.isnan %0 : (tensor<4x8xf32>) -> tensor<4x8xi1>
    """


@torch_op("isinf")
class IsinfOp(PredicateUnaryOp):
    """
    True where input is inf or -inf.

        %1 = torch.isinf %0 : (tensor<4x8xf32>) -> tensor<4x8xi1>
    """


@torch_op("isfinite")
class IsfiniteOp(PredicateUnaryOp):
    """
    True where input is neither infinite nor NaN.

        %1 = torch.isfinite %0 : (tensor<4x8xf32>) -> tensor<4x8xi1>
    """


@torch_op("isposinf")
class IsposinfOp(PredicateUnaryOp):
    """
    True where input is inf.

        %1 = torch.isposinf %0 : (tensor<4x8xf32>) -> tensor<4x8xi1>
    """


@torch_op("isneginf")
class IsneginfOp(PredicateUnaryOp):
    """
    True where input is -inf.

        %1 = torch.isneginf %0 : (tensor<4x8xf32>) -> tensor<4x8xi1>
    """


@torch_op("signbit")
class SignbitOp(PredicateUnaryOp):
    """
    True where input is negative or -0.0; a NaN counts as positive.

        %1 = torch.signbit %0 : (tensor<4x8xf32>) -> tensor<4x8xi1>
    """


@torch_op("logical_not")
class LogicalNotOp(PredicateUnaryOp):
    """
    True where input is 0.

        %1 = torch.logical_not %0 : (tensor<4x8xf32>) -> tensor<4x8xi1>
    """


@torch_op("logical_and")
class LogicalAndOp(LogicalOp):
    """
    True where both input and other are true.

        %2 = torch.logical_and %0, %1 : (tensor<4x8xi1>, tensor<8xi1>) -> tensor<4x8xi1>
    """


@torch_op("logical_or")
class LogicalOrOp(LogicalOp):
    """
    True where at least one of input and other is true.

        %2 = torch.logical_or %0, %1 : (tensor<4x8xi1>, tensor<8xi1>) -> tensor<4x8xi1>
    """


@torch_op("logical_xor")
class LogicalXorOp(LogicalOp):
    """
    True where exactly one of input and other is true.

        %2 = torch.logical_xor %0, %1 : (tensor<4x8xi1>, tensor<8xi1>) -> tensor<4x8xi1>
    """
