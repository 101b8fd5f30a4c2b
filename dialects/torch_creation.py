# SPDX-License-Identifier: Apache-2.0
"""
Torch ops that make tensors of numbers, or convert tensors: those with tensor options.

Of the options only the dtype shows in values. `device`, `memory_format` and `non_blocking` say
where and how a tensor lies in the user's memory, which is not where a compiled program has it.
"""

from collections.abc import Sequence
from math import ceil, isfinite
from typing import cast

from xdsl.dialects.builtin import f32, i1, i64
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.torch_conversion import check_holds
from tilewright.dialects.torch_op import (
    Scalar,
    TensorOp,
    boolean,
    integer,
    integers,
    number,
    opt_boolean,
    opt_dtype,
    opt_text,
    python_value,
    tensor,
    torch_op,
)
from tilewright.dialects.torch_promotion import FLOATS, number_type
from tilewright.dialects.torch_shapes import element_of, shape_of, shown


def value_of(number: Scalar) -> int | float:
    """A number's value."""
    return cast(int | float, python_value(number))


class OptionsOp(TensorOp):
    """An op with tensor options."""

    dtype = opt_dtype()
    layout = opt_text()
    device = opt_text()
    pin_memory = opt_boolean()

    def shape(self) -> tuple[int, ...]:
        """The result's shape."""
        raise NotImplementedError

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
    """Refuse a negative size."""
    if any(n < 0 for n in size):
        raise VerifyException(f"size {list(size)} has a negative one")
    return tuple(size)


# --- One value -------------------------------------------------------------------------------


class FullOfSizeOp(OptionsOp):
    """A tensor of one value and a given size, of float32 without a dtype."""

    size = integers()

    def shape(self) -> tuple[int, ...]:
        return checked_size(self.size.get_values())

    def result_element(self) -> Attribute:
        return self.dtype or f32


class FullLikeAnotherOp(OptionsOp):
    """A tensor of one value, with the input's shape, and its type without a dtype."""

    input = tensor()
    memory_format = opt_text()

    def shape(self) -> tuple[int, ...]:
        return shape_of(self.input)


class NewOp(OptionsOp):
    """A tensor of one value and a given size, of the input's type without a dtype."""

    input = tensor()
    size = integers()

    def shape(self) -> tuple[int, ...]:
        return checked_size(self.size.get_values())


@torch_op("full")
class FullOp(FullOfSizeOp):
    """
    Every element is `fill_value`.

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
    As the input, but every element is `fill_value`.

        %1 = torch.full_like %0 fill_value 3 dtype i64 : (tensor<4x8xf32>) -> tensor<4x8xi64>
    """

    fill_value = number()

    def shape(self) -> tuple[int, ...]:
        check_holds(value_of(self.fill_value), self.result_element())
        return super().shape()


@torch_op("new_full")
class NewFullOp(NewOp):
    """
    Every element is `fill_value`.

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
    Zeros.

        %0 = torch.zeros size [4, 8] dtype i1 : () -> tensor<4x8xi1>
    """


@torch_op("zeros_like")
class ZerosLikeOp(FullLikeAnotherOp):
    """
    Zeros in the input's shape.

        %1 = torch.zeros_like %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("new_zeros")
class NewZerosOp(NewOp):
    """
    Zeros of the input's type.

        %1 = torch.new_zeros %0 size [2, 3] : (tensor<4x8xf32>) -> tensor<2x3xf32>
    """


@torch_op("ones")
class OnesOp(FullOfSizeOp):
    """
    Ones.

        %0 = torch.ones size [4, 8] : () -> tensor<4x8xf32>
    """


@torch_op("ones_like")
class OnesLikeOp(FullLikeAnotherOp):
    """
    Ones in the input's shape.

        %1 = torch.ones_like %0 dtype i1 : (tensor<4x8xf32>) -> tensor<4x8xi1>
    """


@torch_op("new_ones")
class NewOnesOp(NewOp):
    """
    Ones of the input's type.

        %1 = torch.new_ones %0 size [2, 3] : (tensor<4x8xf32>) -> tensor<2x3xf32>
    """


@torch_op("empty.memory_format")
class EmptyOp(FullOfSizeOp):
    """
    Elements that nothing may be assumed of; they are zeros.

        %0 = torch.empty.memory_format size [4, 8] : () -> tensor<4x8xf32>
    """

    memory_format = opt_text()


@torch_op("empty_like")
class EmptyLikeOp(FullLikeAnotherOp):
    """
    Elements that nothing may be assumed of, in the input's shape; they are zeros.

        %1 = torch.empty_like %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("new_empty")
class NewEmptyOp(NewOp):
    """
    Elements that nothing may be assumed of, of the input's type; they are zeros.

        %1 = torch.new_empty %0 size [2, 3] : (tensor<4x8xf32>) -> tensor<2x3xf32>
    """


@torch_op("scalar_tensor")
class ScalarTensorOp(OptionsOp):
    """
    A number as a tensor without dimensions, of float32 without a dtype.

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
    As the input, but every element is `value`.

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
    As the input, but every element is the one of `value`.

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


# --- Sequences -------------------------------------------------------------------------------


class RangeOp(OptionsOp):
    """Equidistant numbers."""

    def bounds(self) -> tuple[int | float, int | float, int | float]:
        """Where the numbers start, where they end, and their distance."""
        raise NotImplementedError

    def numbers(self) -> Sequence[int | float]:
        """The bounds as they are computed with: PyTorch cuts fractions off for integers."""
        is_float = self.result_element() in FLOATS
        return self.bounds() if is_float else [int(bound) for bound in self.bounds()]

    def result_element(self) -> Attribute:
        has_floats = any(isinstance(bound, float) for bound in self.bounds())
        return self.dtype or (f32 if has_floats else i64)

    def shape(self) -> tuple[int, ...]:
        element = self.result_element()
        if element == i1:
            raise VerifyException("arange gives numbers, not booleans")
        for bound in self.bounds():
            if not isfinite(bound):
                raise VerifyException(f"a range has no bound {bound}")
            check_holds(bound, element if element in FLOATS else i64)
        start, end, step = self.numbers() if element == i64 else self.bounds()
        if step == 0 or (end - start) * step < 0:
            raise VerifyException(f"there is no way from {start} to {end} in steps of {step}")
        return (_steps(start, end, step),)


def _steps(start: int | float, end: int | float, step: int | float) -> int:
    if all(isinstance(number, int) for number in (start, end, step)):
        return -(-(int(end) - int(start)) // int(step))
    return ceil((end - start) / step)


@torch_op("arange")
class ArangeOp(RangeOp):
    """
    0, 1, ... up to but without `end`.

        %0 = torch.arange end 8 : () -> tensor<8xi64>
    """

    end = number()

    def bounds(self) -> tuple[int | float, int | float, int | float]:
        return 0, value_of(self.end), 1


@torch_op("arange.start")
class ArangeStartOp(RangeOp):
    """
    `start`, `start` + 1, ... up to but without `end`.

        %0 = torch.arange.start start 2 end 8 dtype i32 : () -> tensor<6xi32>
    """

    start = number()
    end = number()

    def bounds(self) -> tuple[int | float, int | float, int | float]:
        return value_of(self.start), value_of(self.end), 1


@torch_op("arange.start_step")
class ArangeStepOp(RangeOp):
    """
    `start`, `start` + `step`, ... up to but without `end`.

        %0 = torch.arange.start_step start 0 end 1 step 0.25 : () -> tensor<4xf32>
    """

    start = number()
    end = number()
    step = number(1)

    def bounds(self) -> tuple[int | float, int | float, int | float]:
        return value_of(self.start), value_of(self.end), value_of(self.step)


@torch_op("linspace")
class LinspaceOp(OptionsOp):
    """
    `steps` equidistant numbers from `start` to `end`, of float32 without a dtype.

        %0 = torch.linspace start 0 end 1.0 steps 5 : () -> tensor<5xf32>
    """

    start = number()
    end = number()
    steps = integer()

    def shape(self) -> tuple[int, ...]:
        element = self.result_element()
        if element == i1:
            raise VerifyException("linspace gives numbers, not booleans")
        for bound in (self.start, self.end):
            check_holds(value_of(bound), element)
        return checked_size([self.steps.value.data])

    def result_element(self) -> Attribute:
        return self.dtype or f32


@torch_op("eye")
class EyeOp(OptionsOp):
    """
    Ones on the diagonal of an n x n matrix, zeros elsewhere.

        %0 = torch.eye n 4 : () -> tensor<4x4xf32>
    """

    n = integer()

    def shape(self) -> tuple[int, ...]:
        return checked_size([self.n.value.data] * 2)

    def result_element(self) -> Attribute:
        return self.dtype or f32


@torch_op("eye.m")
class EyeMOp(OptionsOp):
    """
    Ones on the diagonal of an n x m matrix, zeros elsewhere.

        %0 = torch.eye.m n 4 m 8 : () -> tensor<4x8xf32>
    """

    n = integer()
    m = integer()

    def shape(self) -> tuple[int, ...]:
        return checked_size([self.n.value.data, self.m.value.data])

    def result_element(self) -> Attribute:
        return self.dtype or f32


# --- Conversion ------------------------------------------------------------------------------


@torch_op("_to_copy")
class ToCopyOp(OptionsOp):
    """
    The input's values in another type.

        %1 = torch._to_copy %0 dtype f16 : (tensor<4x8xf32>) -> tensor<4x8xf16>
    """

    input = tensor()
    non_blocking = boolean(False)
    memory_format = opt_text()

    def shape(self) -> tuple[int, ...]:
        return shape_of(self.input)
