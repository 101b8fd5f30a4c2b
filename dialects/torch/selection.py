# SPDX-License-Identifier: Apache-2.0
"""Torch ops that choose between elements by a tensor of bools."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.torch.elementwise import ElementwiseOp, check_fits
from tilewright.dialects.torch.op import Scalar, number, tensor, torch_op
from tilewright.dialects.torch.shapes import shown
from tilewright.dialects.types import element_of, shape_of


def check_mask(mask: SSAValue, what: str) -> None:
    """Raise `VerifyException` unless the mask is of bools."""
    if (element := element_of(mask)) != i1:
        raise VerifyException(f"{what} is of bools, not of {element}: compare it, as with `!= 0`")


class SelectionOp(ElementwiseOp, ABC):
    """Base class of choices between two tensors or numbers by `condition`, a tensor of bools."""

    condition = tensor()

    @abstractmethod
    def choices(self) -> tuple[SSAValue | Scalar, SSAValue | Scalar]:
        """Return the choice where the condition is true, and the choice where it is false."""

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
    """
    Base class of masked fills: `value` where `mask` is true, else `input`, whose type is kept.
    """

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
