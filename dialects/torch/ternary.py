# SPDX-License-Identifier: Apache-2.0
"""Torch ops with three operands: bounds, interpolation, fused products."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.torch.elementwise import (
    NUMBERS,
    REALS,
    Domain,
    ElementwiseOp,
    check_fits,
)
from tilewright.dialects.torch.op import Scalar, number, opt_number, opt_tensor, tensor, torch_op
from tilewright.dialects.types import element_of

# --- Bounds ----------------------------------------------------------------------------------


class ClampLikeOp(ElementwiseOp, ABC):
    """Base class of clamps, which take one bound or two; NaN in input or a bound propagates."""

    @abstractmethod
    def bounds(self) -> tuple[SSAValue | Scalar | None, SSAValue | Scalar | None]:
        """Return the lower and the upper bound; None for an absent one."""

    def arguments(self) -> Sequence[SSAValue | Attribute]:
        return (self.operands[0], *(bound for bound in self.bounds() if bound is not None))

    def result_shape(self) -> tuple[int, ...]:
        if self.bounds() == (None, None):
            raise VerifyException(f"{self.name} takes min or max or both")
        return super().result_shape()


@torch_op("clamp")
class ClampOp(ClampLikeOp):
    """
    min(max(input, min), max).

        %1 = torch.clamp %0 min 0 max 6 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """

    input = tensor()
    min = opt_number()
    max = opt_number()

    def bounds(self) -> tuple[Scalar | None, Scalar | None]:
        return self.min, self.max

    def result_shape(self) -> tuple[int, ...]:
        for bound in self.bounds():
            if bound is not None:
                check_fits(bound, self.common_element(), "a bound")
        return super().result_shape()


@torch_op("clamp.Tensor", "clamp.Tensor")
class ClampTensorOp(ClampLikeOp):
    """
    min(max(input, min), max).

        %2 = torch.clamp.Tensor %0 min %1 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    """

    input = tensor()
    min = opt_tensor()
    max = opt_tensor()

    def bounds(self) -> tuple[SSAValue | None, SSAValue | None]:
        return self.min, self.max


@torch_op("clamp_min")
class ClampMinOp(ClampLikeOp):
    """
    max(input, min).

        %1 = torch.clamp_min %0 min 0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """

    input = tensor()
    min = number()

    def bounds(self) -> tuple[Scalar, None]:
        return self.min, None


@torch_op("clamp_min.Tensor", "clamp_min.Tensor")
class ClampMinTensorOp(ClampLikeOp):
    """
    max(input, min).

        %2 = torch.clamp_min.Tensor %0, %1 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    """

    input = tensor()
    min = tensor()

    def bounds(self) -> tuple[SSAValue, None]:
        return self.min, None


@torch_op("clamp_max")
class ClampMaxOp(ClampLikeOp):
    """
    min(input, max).

        %1 = torch.clamp_max %0 max 6 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """

    input = tensor()
    max = number()

    def bounds(self) -> tuple[None, Scalar]:
        return None, self.max


@torch_op("clamp_max.Tensor", "clamp_max.Tensor")
class ClampMaxTensorOp(ClampLikeOp):
    """
    min(input, max).

        %2 = torch.clamp_max.Tensor %0, %1 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    """

    input = tensor()
    max = tensor()

    def bounds(self) -> tuple[None, SSAValue]:
        return None, self.max


# --- Interpolation and fused products --------------------------------------------------------


class LerpLikeOp(ElementwiseOp):
    """
    Base class of linear interpolation: input + weight * (end - input), of tensors of one type.
    """

    DOMAIN: ClassVar[Domain] = REALS

    def result_shape(self) -> tuple[int, ...]:
        if len({element_of(operand) for operand in self.operands}) > 1:
            raise VerifyException("input, end and weight are of one type: convert them")
        return super().result_shape()


@torch_op("lerp.Scalar")
class LerpScalarOp(LerpLikeOp):
    """
    input + weight * (end - input).

        %2 = torch.lerp.Scalar %0, %1 weight 0.5
            : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    """

    input = tensor()
    end = tensor()
    weight = number()


@torch_op("lerp.Tensor")
class LerpOp(LerpLikeOp):
    """
    input + weight * (end - input).

        %3 = torch.lerp %0, %1, %2
            : (tensor<4x8xf32>, tensor<8xf32>, tensor<f32>) -> tensor<4x8xf32>
    """

    input = tensor()
    end = tensor()
    weight = tensor()


class FusedOp(ElementwiseOp):
    """Base class of ops that add a product or a quotient to a tensor."""

    input = tensor()
    tensor1 = tensor()
    tensor2 = tensor()
    value = number(1)

    def result_shape(self) -> tuple[int, ...]:
        check_fits(self.value, self.common_element(), "value")
        return super().result_shape()


@torch_op("addcmul")
class AddcmulOp(FusedOp):
    """
    input + value * tensor1 * tensor2.

        %3 = torch.addcmul %0, %1, %2 value 0.5
            : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    """

    DOMAIN: ClassVar[Domain] = NUMBERS


@torch_op("addcdiv")
class AddcdivOp(FusedOp):
    """
    input + value * tensor1 / tensor2.

        %3 = torch.addcdiv %0, %1, %2 value 0.5
            : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    """

    DOMAIN: ClassVar[Domain] = REALS
