# SPDX-License-Identifier: Apache-2.0
"""Torch ops of three operands: selections, bounds, interpolation, fused products."""

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.torch_elementwise import (
    NUMBERS,
    REALS,
    Domain,
    ElementwiseOp,
    check_fits,
)
from tilewright.dialects.torch_op import Scalar, number, opt_number, opt_tensor, tensor, torch_op
from tilewright.dialects.torch_shapes import shown
from tilewright.dialects.types import element_of, shape_of

# --- Selections ------------------------------------------------------------------------------


def check_mask(mask: SSAValue, what: str) -> None:
    """Refuse a mask that is not of bools."""
    if (element := element_of(mask)) != i1:
        raise VerifyException(f"{what} is of bools, not of {element}: compare it, as with `!= 0`")


class SelectionOp(ElementwiseOp):
    """A choice between two tensors or numbers by `condition`, a tensor of bools."""

    condition = tensor()

    def choices(self) -> tuple[SSAValue | Scalar, SSAValue | Scalar]:
        """What is chosen where the condition is true, and where it is not."""
        raise NotImplementedError

    def arguments(self) -> Sequence[SSAValue | Attribute]:
        return self.choices()

    def result_shape(self) -> tuple[int, ...]:
        check_mask(self.condition, "condition")
        for choice in self.choices():
            if not isinstance(choice, SSAValue):
                check_fits(choice, self.common_element(), "a number to choose")
        return super().result_shape()


@torch_op("where.self")
class WhereOp(SelectionOp):
    """
    input where condition is true, else other.

        %3 = torch.where.self %0, %1, %2
            : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    """

    input = tensor()
    other = tensor()

    def choices(self) -> tuple[SSAValue | Scalar, SSAValue | Scalar]:
        return self.input, self.other


@torch_op("where.ScalarSelf")
class WhereScalarSelfOp(SelectionOp):
    """
    input where condition is true, else other.

        %2 = torch.where.ScalarSelf %0, %1 input 0.0
            : (tensor<4x8xi1>, tensor<8xf32>) -> tensor<4x8xf32>
    """

    input = number()
    other = tensor()

    def choices(self) -> tuple[SSAValue | Scalar, SSAValue | Scalar]:
        return self.input, self.other


@torch_op("where.ScalarOther")
class WhereScalarOtherOp(SelectionOp):
    """
    input where condition is true, else other.

        %2 = torch.where.ScalarOther %0, %1 other -inf
            : (tensor<4x8xi1>, tensor<8xf32>) -> tensor<4x8xf32>
    """

    input = tensor()
    other = number()

    def choices(self) -> tuple[SSAValue | Scalar, SSAValue | Scalar]:
        return self.input, self.other


@torch_op("where.Scalar")
class WhereScalarOp(SelectionOp):
    """
    input where condition is true, else other.

        %1 = torch.where.Scalar %0 input 1.0 other 0.0 : (tensor<4x8xi1>) -> tensor<4x8xf32>
    """

    input = number()
    other = number()

    def choices(self) -> tuple[SSAValue | Scalar, SSAValue | Scalar]:
        return self.input, self.other


class MaskedFillLikeOp(ElementwiseOp):
    """`value` where `mask` is true, else `input`, whose type it keeps."""

    input = tensor()
    mask = tensor()

    def arguments(self) -> Sequence[SSAValue | Attribute]:
        return (self.input,)

    def result_shape(self) -> tuple[int, ...]:
        check_mask(self.mask, "mask")
        return super().result_shape()


@torch_op("masked_fill.Scalar")
class MaskedFillOp(MaskedFillLikeOp):
    """
    value where mask is true, else input.

        %2 = torch.masked_fill.Scalar %0, %1 value -inf
            : (tensor<4x8xf32>, tensor<8xi1>) -> tensor<4x8xf32>
    """

    value = number()

    def result_shape(self) -> tuple[int, ...]:
        check_fits(self.value, self.common_element(), "value")
        return super().result_shape()


@torch_op("masked_fill.Tensor")
class MaskedFillTensorOp(MaskedFillLikeOp):
    """
    value, a tensor without dimensions, where mask is true, else input.

        %3 = torch.masked_fill %0, %1, %2
            : (tensor<4x8xf32>, tensor<8xi1>, tensor<f32>) -> tensor<4x8xf32>
    """

    value = tensor()

    def result_shape(self) -> tuple[int, ...]:
        if shape := shape_of(self.value):
            raise VerifyException(f"value has no dimensions, but is of shape {shown(shape)}")
        return super().result_shape()


# --- Bounds ----------------------------------------------------------------------------------


class ClampLikeOp(ElementwiseOp):
    """Keeps elements within bounds, of which there is at least one; NaN stays, also of a bound."""

    def bounds(self) -> tuple[SSAValue | Scalar | None, SSAValue | Scalar | None]:
        """The smallest and the largest result."""
        raise NotImplementedError

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
    """input + weight * (end - input), of tensors of one type."""

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
    """A product or a quotient added to a tensor."""

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
