# SPDX-License-Identifier: Apache-2.0
"""Torch ops that compare, and those on truth values; all give bools."""

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute

from tilewright.dialects.torch.elementwise import BinaryOp, PredicateUnaryOp, ScalarOp
from tilewright.dialects.torch.op import torch_op


class ComparisonOp(BinaryOp):
    """Whether something is true of the elements of two tensors."""

    def result_element(self) -> Attribute:
        return i1


class ComparisonScalarOp(ScalarOp):
    """Whether something is true of each element and a number."""

    def result_element(self) -> Attribute:
        return i1


class LogicalOp(BinaryOp):
    """A function of truth values; of what is no bool, all but 0 is true."""

    def result_element(self) -> Attribute:
        return i1


@torch_op("eq.Tensor")
class EqOp(ComparisonOp):
    """
    Whether both are equal.

        %2 = torch.eq %0, %1 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
    """


@torch_op("eq.Scalar")
class EqScalarOp(ComparisonScalarOp):
    """
    Whether both are equal.

        %1 = torch.eq.Scalar %0 other 2 : (tensor<4x8xf32>) -> tensor<4x8xi1>
    """


@torch_op("ne.Tensor")
class NeOp(ComparisonOp):
    """
    Whether they differ, as NaN does from everything.

        %2 = torch.ne %0, %1 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
    """


@torch_op("ne.Scalar")
class NeScalarOp(ComparisonScalarOp):
    """
    Whether they differ, as NaN does from everything.

        %1 = torch.ne.Scalar %0 other 2 : (tensor<4x8xf32>) -> tensor<4x8xi1>
    """


@torch_op("lt.Tensor")
class LtOp(ComparisonOp):
    """
    Whether input is the smaller.

        %2 = torch.lt %0, %1 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
    """


@torch_op("lt.Scalar")
class LtScalarOp(ComparisonScalarOp):
    """
    Whether input is the smaller.

        %1 = torch.lt.Scalar %0 other 2 : (tensor<4x8xf32>) -> tensor<4x8xi1>
    """


@torch_op("le.Tensor")
class LeOp(ComparisonOp):
    """
    Whether input is not the larger.

        %2 = torch.le %0, %1 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
    """


@torch_op("le.Scalar")
class LeScalarOp(ComparisonScalarOp):
    """
    Whether input is not the larger.

        %1 = torch.le.Scalar %0 other 2 : (tensor<4x8xf32>) -> tensor<4x8xi1>
    """


@torch_op("gt.Tensor")
class GtOp(ComparisonOp):
    """
    Whether input is the larger.

        %2 = torch.gt %0, %1 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
    """


@torch_op("gt.Scalar")
class GtScalarOp(ComparisonScalarOp):
    """
    Whether input is the larger.

        %1 = torch.gt.Scalar %0 other 2 : (tensor<4x8xf32>) -> tensor<4x8xi1>
    """


@torch_op("ge.Tensor")
class GeOp(ComparisonOp):
    """
    Whether input is not the smaller.

        %2 = torch.ge %0, %1 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
    """


@torch_op("ge.Scalar")
class GeScalarOp(ComparisonScalarOp):
    """
    Whether input is not the smaller.

        %1 = torch.ge.Scalar %0 other 2 : (tensor<4x8xf32>) -> tensor<4x8xi1>
    """


@torch_op("isnan")
class IsnanOp(PredicateUnaryOp):
    """
    Whether input is NaN.

        %1 = torch.isnan %0 : (tensor<4x8xf32>) -> tensor<4x8xi1>
    """


@torch_op("isinf")
class IsinfOp(PredicateUnaryOp):
    """
    Whether input is inf or -inf.

        %1 = torch.isinf %0 : (tensor<4x8xf32>) -> tensor<4x8xi1>
    """


@torch_op("isfinite")
class IsfiniteOp(PredicateUnaryOp):
    """
    Whether input is neither infinite nor NaN.

        %1 = torch.isfinite %0 : (tensor<4x8xf32>) -> tensor<4x8xi1>
    """


@torch_op("isposinf")
class IsposinfOp(PredicateUnaryOp):
    """
    Whether input is inf.

        %1 = torch.isposinf %0 : (tensor<4x8xf32>) -> tensor<4x8xi1>
    """


@torch_op("isneginf")
class IsneginfOp(PredicateUnaryOp):
    """
    Whether input is -inf.

        %1 = torch.isneginf %0 : (tensor<4x8xf32>) -> tensor<4x8xi1>
    """


@torch_op("signbit")
class SignbitOp(PredicateUnaryOp):
    """
    Whether input is negative or -0.0; a NaN counts as positive.

        %1 = torch.signbit %0 : (tensor<4x8xf32>) -> tensor<4x8xi1>
    """


@torch_op("logical_not")
class LogicalNotOp(PredicateUnaryOp):
    """
    Whether input is 0.

        %1 = torch.logical_not %0 : (tensor<4x8xf32>) -> tensor<4x8xi1>
    """


@torch_op("logical_and")
class LogicalAndOp(LogicalOp):
    """
    Whether both are true.

        %2 = torch.logical_and %0, %1 : (tensor<4x8xi1>, tensor<8xi1>) -> tensor<4x8xi1>
    """


@torch_op("logical_or")
class LogicalOrOp(LogicalOp):
    """
    Whether at least one is true.

        %2 = torch.logical_or %0, %1 : (tensor<4x8xi1>, tensor<8xi1>) -> tensor<4x8xi1>
    """


@torch_op("logical_xor")
class LogicalXorOp(LogicalOp):
    """
    Whether just one is true.

        %2 = torch.logical_xor %0, %1 : (tensor<4x8xi1>, tensor<8xi1>) -> tensor<4x8xi1>
    """
