# SPDX-License-Identifier: Apache-2.0
"""
Torch ops that create tensors of one number, and the base of all ops with tensor options.

Of the tensor options, only the dtype affects values. `device`, `memory_format` and `non_blocking`
concern the user's memory, which a compiled program does not use for intermediate tensors.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import f32
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.torch.conversion import check_holds
from tilewright.dialects.torch.op import (
    Scalar,
    TensorOp,
    integers,
    number,
    opt_boolean,
    opt_dtype,
    opt_text,
    python_value,
    tensor,
    torch_op,
)
from tilewright.dialects.torch.promotion import number_type
from tilewright.dialects.torch.shapes import shown
from tilewright.dialects.types import element_of, shape_of


def value_of(number: Scalar) -> int | float:
    """Return the Python number that an attribute holds."""
    return cast(int | float, python_value(number))


class OptionsOp(TensorOp, ABC):
    """Base class of ops with tensor options: `dtype`, `layout`, `device` and `pin_memory`."""

    dtype = opt_dtype()
    layout = opt_text()
    device = opt_text()
    pin_memory = opt_boolean()

    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """Return the shape of the result."""

    def result_shape(self) -> tuple[int, ...]:
        if self.layout is not None and self.layout.data != "strided":
            raise VerifyException(f"layout {self.layout} is not supported: only dense tensors are")
        if self.device is not None and self.device.data == "meta":
            raise VerifyException("a tensor on the device meta has no values")
        if self.pin_memory is not None and self.pin_memory.value.data:
            raise VerifyException(
                "pin_memory is not supported: results are allocated by the caller"
            )
        return self.shape()


def checked_size(size: Sequence[int]) -> tuple[int, ...]:
    """Return `size`; raise `VerifyException` if a size in it is negative."""
    if any(n < 0 for n in size):
        raise VerifyException(f"size {list(size)} has a negative element")
    return tuple(size)


# --- One value -------------------------------------------------------------------------------


class FullOfSizeOp(OptionsOp):
    """Base class of tensors of one value and a given size; float32 unless a dtype is given."""

    size = integers()

    def shape(self) -> tuple[int, ...]:
        return checked_size(self.size.get_values())

    def result_element(self) -> Attribute:
        return self.dtype or f32


class FullLikeAnotherOp(OptionsOp):
    """
    Base class of tensors of one value with the input's shape, and its type unless a dtype is given.
    """

    input = tensor()
    memory_format = opt_text()

    def shape(self) -> tuple[int, ...]:
        return shape_of(self.input)


class NewOp(OptionsOp):
    """
    Base class of tensors of one value and a given size, of the input's type unless a dtype is
    given.
    """

    input = tensor()
    size = integers()

    def shape(self) -> tuple[int, ...]:
        return checked_size(self.size.get_values())


@torch_op("full")
class FullOp(FullOfSizeOp):
    """
    A tensor of the given size whose elements are all `fill_value`.

        %0 = torch.full size [4, 8] fill_value 2.5 dtype f32 : () -> tensor<4x8xf32>
    """

    size = integers()
    fill_value = number()

    def shape(self) -> tuple[int, ...]:
        check_holds(value_of(self.fill_value), self.result_element())
        return super().shape()

    def result_element(self) -> Attribute:
        return self.dtype or number_type(self.fill_value)


@torch_op("full_like")
class FullLikeOp(FullLikeAnotherOp):
    """
    A tensor of the input's shape whose elements are all `fill_value`.

        %1 = torch.full_like %0 fill_value 3 dtype i64 : (tensor<4x8xf32>) -> tensor<4x8xi64>
    """

    fill_value = number()

    def shape(self) -> tuple[int, ...]:
        check_holds(value_of(self.fill_value), self.result_element())
        return super().shape()


@torch_op("new_full")
class NewFullOp(NewOp):
    """
    A tensor of the given size, of the input's type, whose elements are all `fill_value`.

        %1 = torch.new_full %0 size [2] fill_value -1.0 : (tensor<4x8xf32>) -> tensor<2xf32>
    """

    size = integers()
    fill_value = number()

    def shape(self) -> tuple[int, ...]:
        check_holds(value_of(self.fill_value), self.result_element())
        return super().shape()


@torch_op("zeros")
class ZerosOp(FullOfSizeOp):
    """
    A tensor of zeros of the given size.

        %0 = torch.zeros size [4, 8] dtype i1 : () -> tensor<4x8xi1>
    """


@torch_op("zeros_like")
class ZerosLikeOp(FullLikeAnotherOp):
    """
    A tensor of zeros of the input's shape.

        %1 = torch.zeros_like %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("new_zeros")
class NewZerosOp(NewOp):
    """
    A tensor of zeros of the given size and the input's type.

        %1 = torch.new_zeros %0 size [2, 3] : (tensor<4x8xf32>) -> tensor<2x3xf32>
    """


@torch_op("ones")
class OnesOp(FullOfSizeOp):
    """
    A tensor of ones of the given size.

        %0 = torch.ones size [4, 8] : () -> tensor<4x8xf32>
    """


@torch_op("ones_like")
class OnesLikeOp(FullLikeAnotherOp):
    """
    A tensor of ones of the input's shape.

        %1 = torch.ones_like %0 dtype i1 : (tensor<4x8xf32>) -> tensor<4x8xi1>
    """


@torch_op("new_ones")
class NewOnesOp(NewOp):
    """
    A tensor of ones of the given size and the input's type.

        %1 = torch.new_ones %0 size [2, 3] : (tensor<4x8xf32>) -> tensor<2x3xf32>
    """


@torch_op("empty.memory_format")
class EmptyOp(FullOfSizeOp):
    """
    A tensor of the given size with undefined elements, compiled as zeros.

        %0 = torch.empty.memory_format size [4, 8] : () -> tensor<4x8xf32>
    """

    memory_format = opt_text()


@torch_op("empty_like")
class EmptyLikeOp(FullLikeAnotherOp):
    """
    A tensor of the input's shape with undefined elements, compiled as zeros.

        %1 = torch.empty_like %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("new_empty")
class NewEmptyOp(NewOp):
    """
    A tensor of the given size and the input's type with undefined elements, compiled as zeros.

        %1 = torch.new_empty %0 size [2, 3] : (tensor<4x8xf32>) -> tensor<2x3xf32>
    """


@torch_op("scalar_tensor")
class ScalarTensorOp(OptionsOp):
    """
    A number as a tensor without dimensions; float32 unless a dtype is given.

        %0 = torch.scalar_tensor s 2 dtype i64 : () -> tensor<i64>
    """

    s = number()

    def shape(self) -> tuple[int, ...]:
        check_holds(value_of(self.s), self.result_element())
        return ()

    def result_element(self) -> Attribute:
        return self.dtype or f32


@torch_op("fill.Scalar")
class FillScalarOp(TensorOp):
    """
    A tensor of the input's shape and type whose elements are all the number `value`.

        %1 = torch.fill.Scalar %0 value 2 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """

    input = tensor()
    value = number()

    def result_shape(self) -> tuple[int, ...]:
        check_holds(value_of(self.value), element_of(self.input))
        return shape_of(self.input)


@torch_op("fill.Tensor")
class FillOp(TensorOp):
    """
    A tensor of the input's shape and type whose elements are all the element of the scalar tensor
    `value`.

        %2 = torch.fill %0, %1 : (tensor<4x8xf32>, tensor<i64>) -> tensor<4x8xf32>
    """

    input = tensor()
    value = tensor()

    def result_shape(self) -> tuple[int, ...]:
        if shape := shape_of(self.value):
            raise VerifyException(f"value is a tensor without dimensions, not {shown(shape)}")
        return shape_of(self.input)

    def result_element(self) -> Attribute:
        return element_of(self.input)
