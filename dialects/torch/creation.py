# SPDX-License-Identifier: Apache-2.0
"""Torch ops that create tensors of different numbers, or convert tensors."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import ceil, isfinite

from xdsl.dialects.builtin import f32, i1, i64
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.element_types import FLOATS
from tilewright.dialects.torch.conversion import check_holds
from tilewright.dialects.torch.filling import OptionsOp, checked_size, value_of
from tilewright.dialects.torch.op import (
    boolean,
    integer,
    number,
    opt_text,
    tensor,
    torch_op,
)
from tilewright.dialects.types import shape_of

# --- Sequences -------------------------------------------------------------------------------


class RangeOp(OptionsOp, ABC):
    """Base class of ops that return equidistant numbers."""

    @abstractmethod
    def bounds(self) -> tuple[int | float, int | float, int | float]:
        """Return the start, the end (excluded) and the step."""

    def numbers(self) -> Sequence[int | float]:
        """
        Return start, end and step as the result's type holds them: unchanged for floats, without
        fractions for integers, as in PyTorch.
        """
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
                raise VerifyException(f"a bound of a range is finite, not {bound}")
            check_holds(bound, element if element in FLOATS else i64)
        start, end, step = self.numbers() if element == i64 else self.bounds()
        if step == 0 or (end - start) * step < 0:
            raise VerifyException(f"a range from {start} does not reach {end} in steps of {step}")
        return (_steps(start, end, step),)


def _steps(start: int | float, end: int | float, step: int | float) -> int:
    if all(isinstance(number, int) for number in (start, end, step)):
        return -(-(int(end) - int(start)) // int(step))
    return ceil((end - start) / step)


@torch_op("arange")
class ArangeOp(RangeOp):
    """
    0, 1, ... up to `end`, which is excluded.

        %0 = torch.arange end 8 : () -> tensor<8xi64>
    """

    end = number()

    def bounds(self) -> tuple[int | float, int | float, int | float]:
        return 0, value_of(self.end), 1


@torch_op("arange.start")
class ArangeStartOp(RangeOp):
    """
    `start`, `start` + 1, ... up to `end`, which is excluded.

        %0 = torch.arange.start start 2 end 8 dtype i32 : () -> tensor<6xi32>
    """

    start = number()
    end = number()

    def bounds(self) -> tuple[int | float, int | float, int | float]:
        return value_of(self.start), value_of(self.end), 1


@torch_op("arange.start_step")
class ArangeStepOp(RangeOp):
    """
    `start`, `start` + `step`, ... up to `end`, which is excluded.

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
    `steps` equidistant numbers from `start` to `end`, both included; float32 unless a dtype is
    given.

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
    An n x n matrix with ones on the diagonal and zeros elsewhere.

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
    An n x m matrix with ones on the diagonal and zeros elsewhere.

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
    The input's values, converted to another dtype.

        %1 = torch._to_copy %0 dtype f16 : (tensor<4x8xf32>) -> tensor<4x8xf16>
    """

    input = tensor()
    non_blocking = boolean(False)
    memory_format = opt_text()

    def shape(self) -> tuple[int, ...]:
        return shape_of(self.input)
