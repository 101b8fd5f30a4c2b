# SPDX-License-Identifier: Apache-2.0
"""Torch ops for powers; an integer to a negative power in a tensor is 1, -1 or 0."""

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.element_types import INTEGERS
from tilewright.dialects.torch.elementwise import NUMBERS, Domain, ElementwiseOp, check_fits
from tilewright.dialects.torch.op import number, tensor, torch_op


@torch_op("pow.Tensor_Tensor")
class PowOp(ElementwiseOp):
    """
    input to the power of exponent.

        %2 = torch.pow.Tensor_Tensor %0, %1 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    """

    DOMAIN: ClassVar[Domain] = NUMBERS

    input = tensor()
    exponent = tensor()


@torch_op("pow.Tensor_Scalar")
class PowScalarOp(ElementwiseOp):
    """
    input to the power of exponent.

        %1 = torch.pow.Tensor_Scalar %0 exponent 2 : (tensor<16x64xf32>) -> tensor<16x64xf32>
    """

    DOMAIN: ClassVar[Domain] = NUMBERS

    input = tensor()
    exponent = number()

    def arguments(self) -> Sequence[SSAValue | Attribute]:
        return self.input, self.exponent

    def result_shape(self) -> tuple[int, ...]:
        element, exponent = self.common_element(), self.exponent
        if element in INTEGERS and isinstance(exponent, IntegerAttr) and exponent.value.data < 0:
            raise VerifyException("integers have no negative integer powers: convert to floats")
        check_fits(exponent, element, "exponent")
        return super().result_shape()


@torch_op("pow.Scalar")
class ScalarPowOp(ElementwiseOp):
    """
    The number input to the power of exponent, a tensor.

        %1 = torch.pow.Scalar %0 input 2.0 : (tensor<16x64xf32>) -> tensor<16x64xf32>
    """

    DOMAIN: ClassVar[Domain] = NUMBERS

    input = number()
    exponent = tensor()

    def arguments(self) -> Sequence[SSAValue | Attribute]:
        return self.input, self.exponent
