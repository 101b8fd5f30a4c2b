# SPDX-License-Identifier: Apache-2.0
"""Torch ops on the bits of integers, and on bools as single bits."""

from typing import ClassVar

from tilewright.dialects.torch.elementwise import (
    BITS,
    WHOLES,
    BinaryOp,
    Domain,
    ScalarFirstOp,
    ScalarOp,
    UnaryOp,
)
from tilewright.dialects.torch.op import torch_op


class BitwiseOp(BinaryOp):
    """A function of each bit of two tensors."""

    DOMAIN: ClassVar[Domain] = BITS


class BitwiseScalarOp(ScalarOp):
    """A function of each bit of a tensor and a number."""

    DOMAIN: ClassVar[Domain] = BITS


class ScalarBitwiseOp(ScalarFirstOp):
    """A function of each bit of a number and a tensor."""

    DOMAIN: ClassVar[Domain] = BITS


class ShiftOp(BinaryOp):
    """A shift by as many bits as `other` says."""

    DOMAIN: ClassVar[Domain] = WHOLES


class ShiftScalarOp(ScalarOp):
    """A shift of a tensor by a number of bits."""

    DOMAIN: ClassVar[Domain] = WHOLES


class ScalarShiftOp(ScalarFirstOp):
    """A shift of a number by as many bits as `other` says."""

    DOMAIN: ClassVar[Domain] = WHOLES


@torch_op("bitwise_not")
class BitwiseNotOp(UnaryOp):
    """
    Every bit reversed.

        %1 = torch.bitwise_not %0 : (tensor<4x8xi32>) -> tensor<4x8xi32>
    """

    DOMAIN: ClassVar[Domain] = BITS


@torch_op("bitwise_and.Tensor")
class BitwiseAndOp(BitwiseOp):
    """
    The bits that are set in both.

        %2 = torch.bitwise_and %0, %1 : (tensor<4x8xi32>, tensor<8xi32>) -> tensor<4x8xi32>
    """


@torch_op("bitwise_and.Scalar")
class BitwiseAndScalarOp(BitwiseScalarOp):
    """
    The bits that are set in both.

        %1 = torch.bitwise_and.Scalar %0 other 3 : (tensor<4x8xi32>) -> tensor<4x8xi32>
    """


@torch_op("bitwise_and.Scalar_Tensor")
class ScalarBitwiseAndOp(ScalarBitwiseOp):
    """
    The bits that are set in both.

        %1 = torch.bitwise_and.Scalar_Tensor %0 input 3 : (tensor<4x8xi32>) -> tensor<4x8xi32>
    """


@torch_op("bitwise_or.Tensor")
class BitwiseOrOp(BitwiseOp):
    """
    The bits that are set in either.

        %2 = torch.bitwise_or %0, %1 : (tensor<4x8xi32>, tensor<8xi32>) -> tensor<4x8xi32>
    """


@torch_op("bitwise_or.Scalar")
class BitwiseOrScalarOp(BitwiseScalarOp):
    """
    The bits that are set in either.

        %1 = torch.bitwise_or.Scalar %0 other 3 : (tensor<4x8xi32>) -> tensor<4x8xi32>
    """


@torch_op("bitwise_or.Scalar_Tensor")
class ScalarBitwiseOrOp(ScalarBitwiseOp):
    """
    The bits that are set in either.

        %1 = torch.bitwise_or.Scalar_Tensor %0 input 3 : (tensor<4x8xi32>) -> tensor<4x8xi32>
    """


@torch_op("bitwise_xor.Tensor")
class BitwiseXorOp(BitwiseOp):
    """
    The bits that are set in just one.

        %2 = torch.bitwise_xor %0, %1 : (tensor<4x8xi32>, tensor<8xi32>) -> tensor<4x8xi32>
    """


@torch_op("bitwise_xor.Scalar")
class BitwiseXorScalarOp(BitwiseScalarOp):
    """
    The bits that are set in just one.

        %1 = torch.bitwise_xor.Scalar %0 other 3 : (tensor<4x8xi32>) -> tensor<4x8xi32>
    """


@torch_op("bitwise_xor.Scalar_Tensor")
class ScalarBitwiseXorOp(ScalarBitwiseOp):
    """
    The bits that are set in just one.

        %1 = torch.bitwise_xor.Scalar_Tensor %0 input 3 : (tensor<4x8xi32>) -> tensor<4x8xi32>
    """


@torch_op("bitwise_left_shift.Tensor")
class LeftShiftOp(ShiftOp):
    """
    input shifted left; 0 where `other` is negative, or as large as the width.

        %2 = torch.bitwise_left_shift %0, %1 : (tensor<4x8xi32>, tensor<8xi32>) -> tensor<4x8xi32>
    """


@torch_op("bitwise_left_shift.Tensor_Scalar")
class LeftShiftScalarOp(ShiftScalarOp):
    """
    input shifted left; 0 where `other` is negative, or as large as the width.

        %1 = torch.bitwise_left_shift.Tensor_Scalar %0 other 3
            : (tensor<4x8xi32>) -> tensor<4x8xi32>
    """


@torch_op("bitwise_left_shift.Scalar_Tensor")
class ScalarLeftShiftOp(ScalarShiftOp):
    """
    input shifted left; 0 where `other` is negative, or as large as the width.

        %1 = torch.bitwise_left_shift.Scalar_Tensor %0 input 1
            : (tensor<4x8xi32>) -> tensor<4x8xi32>
    """


@torch_op("bitwise_right_shift.Tensor")
class RightShiftOp(ShiftOp):
    """
    input shifted right, the sign coming in; all the way where `other` is no possible shift.

        %2 = torch.bitwise_right_shift %0, %1 : (tensor<4x8xi32>, tensor<8xi32>) -> tensor<4x8xi32>
    """


@torch_op("bitwise_right_shift.Tensor_Scalar")
class RightShiftScalarOp(ShiftScalarOp):
    """
    input shifted right, the sign coming in; all the way where `other` is no possible shift.

        %1 = torch.bitwise_right_shift.Tensor_Scalar %0 other 3
            : (tensor<4x8xi32>) -> tensor<4x8xi32>
    """


@torch_op("bitwise_right_shift.Scalar_Tensor")
class ScalarRightShiftOp(ScalarShiftOp):
    """
    input shifted right, the sign coming in; all the way where `other` is no possible shift.

        %1 = torch.bitwise_right_shift.Scalar_Tensor %0 input 1
            : (tensor<4x8xi32>) -> tensor<4x8xi32>
    """


@torch_op("__lshift__.Tensor")
class LshiftOp(ShiftOp):
    """
    `input << other`: what `bitwise_left_shift` gives.

        %2 = torch.__lshift__ %0, %1 : (tensor<4x8xi32>, tensor<8xi32>) -> tensor<4x8xi32>
    """


@torch_op("__lshift__.Scalar")
class LshiftScalarOp(ShiftScalarOp):
    """
    `input << other`: what `bitwise_left_shift` gives.

        %1 = torch.__lshift__.Scalar %0 other 3 : (tensor<4x8xi32>) -> tensor<4x8xi32>
    """


@torch_op("__rshift__.Tensor")
class RshiftOp(ShiftOp):
    """
    `input >> other`: what `bitwise_right_shift` gives.

        %2 = torch.__rshift__ %0, %1 : (tensor<4x8xi32>, tensor<8xi32>) -> tensor<4x8xi32>
    """


@torch_op("__rshift__.Scalar")
class RshiftScalarOp(ShiftScalarOp):
    """
    `input >> other`: what `bitwise_right_shift` gives.

        %1 = torch.__rshift__.Scalar %0 other 3 : (tensor<4x8xi32>) -> tensor<4x8xi32>
    """
