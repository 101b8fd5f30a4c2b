# SPDX-License-Identifier: Apache-2.0
"""Torch ops that combine two broadcast tensors, or a tensor and a number, element by element."""

from typing import ClassVar

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.torch.elementwise import (
    REALS,
    BinaryOp,
    Domain,
    ElementwiseOp,
    FloatBinaryOp,
    FloatScalarOp,
    ScalarFirstOp,
    ScalarOp,
)
from tilewright.dialects.torch.op import number, torch_op
from tilewright.dialects.torch.promotion import promoted, promoted_to_float


def check_no_bool(op: ElementwiseOp) -> None:
    """Raise `VerifyException` for a subtraction with a bool operand, as PyTorch does."""
    if any(promoted(argument) == i1 for argument in op.arguments()):
        raise VerifyException(f"{op.name} does not subtract bools: use logical_xor or logical_not")


class DifferenceOp(BinaryOp):
    """Base class of differences of two tensors, neither of bools."""

    alpha = number(1)

    def result_shape(self) -> tuple[int, ...]:
        check_no_bool(self)
        return super().result_shape()


class DifferenceScalarOp(ScalarOp):
    """Base class of differences of a tensor and a number, neither a bool."""

    alpha = number(1)

    def result_shape(self) -> tuple[int, ...]:
        check_no_bool(self)
        return super().result_shape()


@torch_op("add.Tensor")
class AddOp(BinaryOp):
    """
    input + alpha * other.

        %2 = torch.add %0, %1 alpha 2 : (tensor<16x64xf32>, tensor<64xf32>) -> tensor<16x64xf32>
    """

    alpha = number(1)


@torch_op("add.Scalar")
class AddScalarOp(ScalarOp):
    """
    input + alpha * other.

        %1 = torch.add.Scalar %0 other 1.0e-05 : (tensor<16x64xf32>) -> tensor<16x64xf32>
    """

    alpha = number(1)


@torch_op("sub.Tensor")
class SubOp(DifferenceOp):
    """
    input - alpha * other.

        %2 = torch.sub %0, %1 : (tensor<16x64xf32>, tensor<64xf32>) -> tensor<16x64xf32>
    """


@torch_op("sub.Scalar")
class SubScalarOp(DifferenceScalarOp):
    """
    input - alpha * other.

        %1 = torch.sub.Scalar %0 other 2 : (tensor<16x64xf32>) -> tensor<16x64xf32>
    """


@torch_op("rsub.Tensor")
class RsubOp(DifferenceOp):
    """
    other - alpha * input.

        %2 = torch.rsub %0, %1 : (tensor<16x64xf32>, tensor<64xf32>) -> tensor<16x64xf32>
    """


@torch_op("rsub.Scalar")
class RsubScalarOp(DifferenceScalarOp):
    """
    other - alpha * input.

        %1 = torch.rsub.Scalar %0 other 1 : (tensor<16x64xf32>) -> tensor<16x64xf32>
    """


@torch_op("mul.Tensor")
class MulOp(BinaryOp):
    """
    input * other.

        %2 = torch.mul %0, %1 : (tensor<16x64xf32>, tensor<64xf32>) -> tensor<16x64xf32>
    """


@torch_op("mul.Scalar")
class MulScalarOp(ScalarOp):
    """
    input * other.

        %1 = torch.mul.Scalar %0 other 0.5 : (tensor<16x64xf32>) -> tensor<16x64xf32>
    """


@torch_op("maximum")
class MaximumOp(BinaryOp):
    """
    The larger of input and other, NaN where either is NaN.

        %2 = torch.maximum %0, %1 : (tensor<16x64xf32>, tensor<64xf32>) -> tensor<16x64xf32>
    """


@torch_op("minimum")
class MinimumOp(BinaryOp):
    """
    The smaller of input and other, NaN where either is NaN.

        %2 = torch.minimum %0, %1 : (tensor<16x64xf32>, tensor<64xf32>) -> tensor<16x64xf32>
    """


@torch_op("fmax")
class FmaxOp(BinaryOp):
    """
    The larger of input and other; where one of them is NaN, the other one.

        %2 = torch.fmax %0, %1 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    """


@torch_op("fmin")
class FminOp(BinaryOp):
    """
    The smaller of input and other; where one of them is NaN, the other one.

        %2 = torch.fmin %0, %1 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    """


@torch_op("atan2")
class Atan2Op(FloatBinaryOp):
    """
    The angle of the point (x = other, y = input), from -pi to pi.

        %2 = torch.atan2 %0, %1 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    """


@torch_op("hypot")
class HypotOp(BinaryOp):
    """
    sqrt(input^2 + other^2), without intermediate overflow.

        %2 = torch.hypot %0, %1 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    """

    DOMAIN: ClassVar[Domain] = REALS


@torch_op("copysign.Tensor")
class CopysignOp(FloatBinaryOp):
    """
    The magnitude of input with the sign of other; a NaN in other counts as positive.

        %2 = torch.copysign %0, %1 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    """


@torch_op("copysign.Scalar")
class CopysignScalarOp(FloatScalarOp):
    """
    The magnitude of input with the sign of the number other; a NaN in other counts as positive.

        %1 = torch.copysign.Scalar %0 other -0.0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("xlogy.Tensor")
class XlogyOp(FloatBinaryOp):
    """
    input * log(other); 0 where input is 0, NaN where other is NaN.

        %2 = torch.xlogy %0, %1 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    """


@torch_op("xlogy.Scalar_Other")
class XlogyScalarOp(FloatScalarOp):
    """
    input * log(other); 0 where input is 0, NaN where other is NaN.

        %1 = torch.xlogy.Scalar_Other %0 other 2.5 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("xlogy.Scalar_Self")
class ScalarXlogyOp(ScalarFirstOp):
    """
    input * log(other); 0 where input is 0, NaN where other is NaN.

        %1 = torch.xlogy.Scalar_Self %0 input 2.5 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """

    def common_element(self) -> Attribute:
        return promoted_to_float(*self.arguments())


@torch_op("ldexp.Tensor")
class LdexpOp(FloatBinaryOp):
    """
    input * 2^other.

        %2 = torch.ldexp %0, %1 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    """
