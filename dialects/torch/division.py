# SPDX-License-Identifier: Apache-2.0
"""Torch ops for quotients and remainders."""

from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.element_types import INTEGERS
from tilewright.dialects.torch.elementwise import (
    NUMBERS,
    BinaryOp,
    Domain,
    FloatBinaryOp,
    FloatScalarOp,
    ScalarFirstOp,
    ScalarOp,
)
from tilewright.dialects.torch.op import opt_text, torch_op
from tilewright.dialects.torch.promotion import promoted, promoted_to_float


class DivisionOp(BinaryOp):
    """Base class of divisions of tensors that return integers for integers."""

    DOMAIN: ClassVar[Domain] = NUMBERS


class DivisionScalarOp(ScalarOp):
    """Base class of divisions by a number that return integers for integers."""

    DOMAIN: ClassVar[Domain] = NUMBERS

    def result_shape(self) -> tuple[int, ...]:
        check_divisor(self)
        return super().result_shape()


def check_divisor(op: ScalarOp) -> None:
    """Raise `VerifyException` for a division of integers by the integer 0."""
    is_zero = isinstance(op.other, IntegerAttr) and not op.other.value.data
    if is_zero and promoted(*op.arguments()) in INTEGERS:
        raise VerifyException(f"{op.name} divides integers by 0")


def quotient_type(op: "DivModeOp | DivScalarModeOp") -> Attribute:
    """
    Return the type in which the operands are divided: a float, unless the quotient is rounded.
    """
    mode, element = op.rounding_mode, promoted(*op.arguments())
    if mode is None:
        return promoted_to_float(*op.arguments())
    if mode.data not in ("floor", "trunc"):
        raise VerifyException(f'rounding_mode is "floor" or "trunc", not {mode}')
    if element not in NUMBERS.elements:
        raise VerifyException(f"{op.name} does not round quotients of bools: convert the operands")
    return element


@torch_op("div.Tensor")
class DivOp(FloatBinaryOp):
    """
    input / other.

        %2 = torch.div %0, %1 : (tensor<16x64xf32>, tensor<64xf32>) -> tensor<16x64xf32>
    """


@torch_op("div.Scalar")
class DivScalarOp(FloatScalarOp):
    """
    input / other.

        %1 = torch.div.Scalar %0 other 8.0 : (tensor<16x64xf32>) -> tensor<16x64xf32>
    """


@torch_op("div.Tensor_mode")
class DivModeOp(BinaryOp):
    """
    input / other, rounded down ("floor") or toward zero ("trunc").

        %2 = torch.div.Tensor_mode %0, %1 rounding_mode "floor"
            : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    """

    rounding_mode = opt_text()

    def common_element(self) -> Attribute:
        return quotient_type(self)


@torch_op("div.Scalar_mode")
class DivScalarModeOp(ScalarOp):
    """
    input / other, rounded down ("floor") or toward zero ("trunc").

        %1 = torch.div.Scalar_mode %0 other 3 rounding_mode "trunc"
            : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """

    rounding_mode = opt_text()

    def result_shape(self) -> tuple[int, ...]:
        if self.rounding_mode is not None:
            check_divisor(self)
        return super().result_shape()

    def common_element(self) -> Attribute:
        return quotient_type(self)


@torch_op("floor_divide")
class FloorDivideOp(DivisionOp):
    """
    input / other, rounded down: Python's `//`.

        %2 = torch.floor_divide %0, %1 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    """


@torch_op("floor_divide.Scalar")
class FloorDivideScalarOp(DivisionScalarOp):
    """
    input / other, rounded down: Python's `//`.

        %1 = torch.floor_divide.Scalar %0 other 3 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("remainder.Tensor")
class RemainderOp(DivisionOp):
    """
    The remainder of `floor_divide`; it has the sign of other.

        %2 = torch.remainder %0, %1 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    """


@torch_op("remainder.Scalar")
class RemainderScalarOp(DivisionScalarOp):
    """
    The remainder of `floor_divide`; it has the sign of other.

        %1 = torch.remainder.Scalar %0 other 3 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("remainder.Scalar_Tensor")
class ScalarRemainderOp(ScalarFirstOp):
    """
    The remainder of `floor_divide`; it has the sign of other.

        %1 = torch.remainder.Scalar_Tensor %0 input 3 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """

    DOMAIN: ClassVar[Domain] = NUMBERS


@torch_op("fmod.Tensor")
class FmodOp(DivisionOp):
    """
    The remainder of the division rounded toward zero; it has the sign of input.

        %2 = torch.fmod %0, %1 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    """


@torch_op("fmod.Scalar")
class FmodScalarOp(DivisionScalarOp):
    """
    The remainder of the division rounded toward zero; it has the sign of input.

        %1 = torch.fmod.Scalar %0 other 3 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """
