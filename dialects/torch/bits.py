# SPDX-License-Identifier: Apache-2.0
"""Torch ops on the bits of integers; a bool is a single bit."""

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
    """Base class of bitwise functions of two tensors."""

    DOMAIN: ClassVar[Domain] = BITS


class BitwiseScalarOp(ScalarOp):
    """Base class of bitwise functions of a tensor and a number."""

    DOMAIN: ClassVar[Domain] = BITS


class ScalarBitwiseOp(ScalarFirstOp):
    """Base class of bitwise functions of a number and a tensor."""

    DOMAIN: ClassVar[Domain] = BITS


class ShiftOp(BinaryOp):
    """Base class of shifts of a tensor by `other` bits, a tensor."""

    DOMAIN: ClassVar[Domain] = WHOLES


class ShiftScalarOp(ScalarOp):
    """Base class of shifts of a tensor by `other` bits, a number."""

    DOMAIN: ClassVar[Domain] = WHOLES


class ScalarShiftOp(ScalarFirstOp):
    """Base class of shifts of a number by `other` bits, a tensor."""

    DOMAIN: ClassVar[Domain] = WHOLES


@torch_op("bitwise_not")
class BitwiseNotOp(UnaryOp):
    """
    Every bit of input inverted.

        %1 = torch.bitwise_not %0 : (tensor<4x8xi32>) -> tensor<4x8xi32>
    """

    DOMAIN: ClassVar[Domain] = BITS


@torch_op("bitwise_and.Tensor")
class BitwiseAndOp(BitwiseOp):
    """
    Bitwise and: the bits that are set in both input and other.

        %2 = torch.bitwise_and %0, %1 : (tensor<4x8xi32>, tensor<8xi32>) -> tensor<4x8xi32>
    """


@torch_op("bitwise_and.Scalar")
class BitwiseAndScalarOp(BitwiseScalarOp):
    """
    Bitwise and: the bits that are set in both input and other.

        %1 = torch.bitwise_and.Scalar %0 other 3 : (tensor<4x8xi32>) -> tensor<4x8xi32>
    """


@torch_op("bitwise_and.Scalar_Tensor")
class ScalarBitwiseAndOp(ScalarBitwiseOp):
    """
    Bitwise and: the bits that are set in both input and other.

        %1 = torch.bitwise_and.Scalar_Tensor %0 input 3 : (tensor<4x8xi32>) -> tensor<4x8xi32>
    """


@torch_op("bitwise_or.Tensor")
class BitwiseOrOp(BitwiseOp):
    """
    Bitwise or: the bits that are set in input, in other, or in both.

        %2 = torch.bitwise_or %0, %1 : (tensor<4x8xi32>, tensor<8xi32>) -> tensor<4x8xi32>
    """


@torch_op("bitwise_or.Scalar")
class BitwiseOrScalarOp(BitwiseScalarOp):
    """
    Bitwise or: the bits that are set in input, in other, or in both.

        %1 = torch.bitwise_or.Scalar %0 other 3 : (tensor<4x8xi32>) -> tensor<4x8xi32>
    """


@torch_op("bitwise_or.Scalar_Tensor")
class ScalarBitwiseOrOp(ScalarBitwiseOp):
    """
    Bitwise or: the bits that are set in input, in other, or in both.

        %1 = torch.bitwise_or.Scalar_Tensor %0 input 3 : (tensor<4x8xi32>) -> tensor<4x8xi32>
    """


@torch_op("bitwise_xor.Tensor")
class BitwiseXorOp(BitwiseOp):
    """
    Bitwise xor: the bits that are set in exactly one of input and other.

        %2 = torch.bitwise_xor %0, %1 : (tensor<4x8xi32>, tensor<8xi32>) -> tensor<4x8xi32>
    """


@torch_op("bitwise_xor.Scalar")
class BitwiseXorScalarOp(BitwiseScalarOp):
    """
    Bitwise xor: the bits that are set in exactly one of input and other.

        %1 = torch.bitwise_xor.Scalar %0 other 3 : (tensor<4x8xi32>) -> tensor<4x8xi32>
    """


@torch_op("bitwise_xor.Scalar_Tensor")
class ScalarBitwiseXorOp(ScalarBitwiseOp):
    """
    Bitwise xor: the bits that are set in exactly one of input and other.

        %1 = torch.bitwise_xor.Scalar_Tensor %0 input 3 : (tensor<4x8xi32>) -> tensor<4x8xi32>
    """


@torch_op("bitwise_left_shift.Tensor")
class LeftShiftOp(ShiftOp):
    """
    input shifted left by `other` bits; 0 where `other` is negative or not below the width.

        %2 = torch.bitwise_left_shift %0, %1 : (tensor<4x8xi32>, tensor<8xi32>) -> tensor<4x8xi32>
    """


@torch_op("bitwise_left_shift.Tensor_Scalar")
class LeftShiftScalarOp(ShiftScalarOp):
    """
    input shifted left by `other` bits; 0 where `other` is negative or not below the width.

        %1 = torch.bitwise_left_shift.Tensor_Scalar %0 other 3
            : (tensor<4x8xi32>) -> tensor<4x8xi32>
    """


@torch_op("bitwise_left_shift.Scalar_Tensor")
class ScalarLeftShiftOp(ScalarShiftOp):
    """
    input shifted left by `other` bits; 0 where `other` is negative or not below the width.

        %1 = torch.bitwise_left_shift.Scalar_Tensor %0 input 1
            : (tensor<4x8xi32>) -> tensor<4x8xi32>
    """


@torch_op("bitwise_right_shift.Tensor")
class RightShiftOp(ShiftOp):
    """
    input shifted right by `other` bits, with sign extension; an invalid `other` leaves only sign
    bits.

        %2 = torch.bitwise_right_shift %0, %1 : (tensor<4x8xi32>, tensor<8xi32>) -> tensor<4x8xi32>
    """


@torch_op("bitwise_right_shift.Tensor_Scalar")
class RightShiftScalarOp(ShiftScalarOp):
    """
    input shifted right by `other` bits, with sign extension; an invalid `other` leaves only sign
    bits.

        %1 = torch.bitwise_right_shift.Tensor_Scalar %0 other 3
            : (tensor<4x8xi32>) -> tensor<4x8xi32>
    """


@torch_op("bitwise_right_shift.Scalar_Tensor")
class ScalarRightShiftOp(ScalarShiftOp):
    """
    input shifted right by `other` bits, with sign extension; an invalid `other` leaves only sign
    bits.

        %1 = torch.bitwise_right_shift.Scalar_Tensor %0 input 1
            : (tensor<4x8xi32>) -> tensor<4x8xi32>
    """


@torch_op("__lshift__.Tensor")
class LshiftOp(ShiftOp):
    """
    `input << other`, equal to `bitwise_left_shift`.

        %2 = torch.__lshift__ %0, %1 : (tensor<4x8xi32>, tensor<8xi32>) -> tensor<4x8xi32>
    """


@torch_op("__lshift__.Scalar")
class LshiftScalarOp(ShiftScalarOp):
    """
    `input << other`, equal to `bitwise_left_shift`.

        %1 = torch.__lshift__.Scalar %0 other 3 : (tensor<4x8xi32>) -> tensor<4x8xi32>
    """


@torch_op("__rshift__.Tensor")
class RshiftOp(ShiftOp):
    """
    `input >> other`, equal to `bitwise_right_shift`.

        %2 = torch.__rshift__ %0, %1 : (tensor<4x8xi32>, tensor<8xi32>) -> tensor<4x8xi32>
    """


@torch_op("__rshift__.Scalar")
class RshiftScalarOp(ShiftScalarOp):
    """
    `input >> other`, equal to `bitwise_right_shift`.

        %1 = torch.__rshift__.Scalar %0 other 3 : (tensor<4x8xi32>) -> tensor<4x8xi32>
    """
