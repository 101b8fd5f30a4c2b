# SPDX-License-Identifier: Apache-2.0
"""What ops that resize have in common: output sizes or scale factors, and which elements count."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import inf
from typing import ClassVar

from xdsl.dialects.builtin import FloatAttr
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.element_types import FLOATS, ui8
from tilewright.dialects.torch.op import (
    TensorOp,
    boolean,
    integers,
    opt_integers,
    opt_real,
    opt_reals,
    tensor,
)
from tilewright.dialects.torch.shapes import shown
from tilewright.dialects.types import element_of, shape_of

_LEAST_FACTOR = 1e-38
"""Scale factor whose inverse float32 holds."""


class ResizeOp(TensorOp, ABC):
    """Resizes the last `DIMS` dimensions."""

    DIMS: ClassVar[int]
    ELEMENTS: ClassVar[tuple[Attribute, ...]] = (*FLOATS, ui8)

    input = tensor()

    @abstractmethod
    def sizes(self) -> tuple[int, ...]:
        """Return the sizes of the result in the dimensions that are resized."""

    @abstractmethod
    def factors(self) -> Sequence[float | None]:
        """By how much each of them grows, where that is given."""

    def result_element(self) -> Attribute:
        element = element_of(self.input)
        if element not in self.ELEMENTS:
            types = ", ".join(map(str, self.ELEMENTS))
            raise VerifyException(f"{types} are resized like this, not {element}: convert it")
        return element

    def result_shape(self) -> tuple[int, ...]:
        input = shape_of(self.input)
        if len(input) != self.DIMS + 2:
            raise VerifyException(
                f"expected batch, channels and {self.DIMS} more dimensions, not {shown(input)}"
            )
        for factor in self.factors():
            if factor is not None and not (factor <= 0 or _LEAST_FACTOR <= factor < inf):
                raise VerifyException(f"a scale is from {_LEAST_FACTOR} up, not {factor}")
        sizes = self.sizes()
        if any(size < 1 for size in (*input[1:], *sizes)):
            raise VerifyException(f"nothing is resized from {shown(input)} to {list(sizes)}")
        return (*input[:2], *sizes)

    def check_count(self, given: Sequence[float], name: str) -> None:
        """Refuse anything but one number for each dimension that is resized."""
        if len(given) != self.DIMS:
            raise VerifyException(f"{name} {list(given)} must have {self.DIMS} elements")


class VecResizeOp(ResizeOp):
    """Resizes to sizes, or by factors, whichever is given."""

    output_size = opt_integers()
    scale_factors = opt_reals()

    def sizes(self) -> tuple[int, ...]:
        if (self.output_size is None) == (self.scale_factors is None):
            raise VerifyException("give either output_size or scale_factors")
        if self.output_size is not None:
            sizes = self.output_size.get_values()
            self.check_count(sizes, "output_size")
            return sizes
        assert self.scale_factors is not None
        factors = self.scale_factors.get_values()
        self.check_count(factors, "scale_factors")
        input = shape_of(self.input)[2:]
        return tuple(int(size * factor) for size, factor in zip(input, factors, strict=True))

    def factors(self) -> Sequence[float | None]:
        if self.scale_factors is None:
            return [None] * self.DIMS
        return self.scale_factors.get_values()


class PlainResizeOp(ResizeOp):
    """Resizes to sizes."""

    output_size = integers()

    def sizes(self) -> tuple[int, ...]:
        sizes = self.output_size.get_values()
        self.check_count(sizes, "output_size")
        return sizes


def _numbers(*scales: FloatAttr | None) -> list[float | None]:
    return [None if scale is None else scale.value.data for scale in scales]


class PlainResize1dOp(PlainResizeOp):
    """Resizes one dimension."""

    DIMS: ClassVar[int] = 1

    scales = opt_real()

    def factors(self) -> Sequence[float | None]:
        return _numbers(self.scales)


class PlainResize2dOp(PlainResizeOp):
    """Resizes two dimensions."""

    DIMS: ClassVar[int] = 2

    scales_h = opt_real()
    scales_w = opt_real()

    def factors(self) -> Sequence[float | None]:
        return _numbers(self.scales_h, self.scales_w)


class PlainResize3dOp(PlainResizeOp):
    """Resizes three dimensions."""

    DIMS: ClassVar[int] = 3

    scales_d = opt_real()
    scales_h = opt_real()
    scales_w = opt_real()

    def factors(self) -> Sequence[float | None]:
        return _numbers(self.scales_d, self.scales_h, self.scales_w)


class NearestResizeOp(ResizeOp):
    """The element that `floor(coordinate * input size / output size)` names."""


class NearestExactResizeOp(ResizeOp):
    """The element whose middle is nearest: `floor((coordinate + 0.5) * input / output size)`."""


class SmoothResizeOp(ResizeOp):
    """Weighs elements nearby; `align_corners` puts the first and the last on each other."""

    ELEMENTS: ClassVar[tuple[Attribute, ...]] = FLOATS

    align_corners = boolean()


class LinearResizeOp(SmoothResizeOp):
    """Weighs two elements in each dimension by how near they are."""


class CubicResizeOp(SmoothResizeOp):
    """Weighs four elements in each dimension by a cubic function of how far they are."""
