# SPDX-License-Identifier: Apache-2.0
"""
Base classes of torch ops that resize: output sizes or scale factors, and which elements are read.
"""

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

_MIN_FACTOR = 1e-38
"""Least scale factor that is accepted; its inverse is finite in float32."""


class ResizeOp(TensorOp, ABC):
    """Base class of ops that resize the last `DIMS` dimensions."""

    DIMS: ClassVar[int]
    ELEMENTS: ClassVar[tuple[Attribute, ...]] = (*FLOATS, ui8)

    input = tensor()

    @abstractmethod
    def sizes(self) -> tuple[int, ...]:
        """Return the result's sizes in the resized dimensions."""

    @abstractmethod
    def factors(self) -> Sequence[float | None]:
        """Return the scale factor of each resized dimension; None where none is given."""

    def result_element(self) -> Attribute:
        element = element_of(self.input)
        if element not in self.ELEMENTS:
            types = ", ".join(map(str, self.ELEMENTS))
            raise VerifyException(f"this op resizes {types}, not {element}: convert the input")
        return element

    def result_shape(self) -> tuple[int, ...]:
        input = shape_of(self.input)
        if len(input) != self.DIMS + 2:
            raise VerifyException(
                f"expected batch, channels and {self.DIMS} more dimensions, not {shown(input)}"
            )
        for factor in self.factors():
            if factor is not None and not (factor <= 0 or _MIN_FACTOR <= factor < inf):
                raise VerifyException(
                    f"a scale is at least {_MIN_FACTOR}, and finite, not {factor}"
                )
        sizes = self.sizes()
        if any(size < 1 for size in (*input[1:], *sizes)):
            raise VerifyException(
                f"cannot resize {shown(input)} to {list(sizes)}: sizes are at least 1"
            )
        return (*input[:2], *sizes)

    def check_count(self, given: Sequence[float], name: str) -> None:
        """Raise `VerifyException` unless there is one number for each resized dimension."""
        if len(given) != self.DIMS:
            raise VerifyException(f"{name} {list(given)} must have {self.DIMS} elements")


class VecResizeOp(ResizeOp):
    """Base class of `.vec` overloads, which take either output sizes or scale factors."""

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
    """Base class of plain overloads, which take output sizes."""

    output_size = integers()

    def sizes(self) -> tuple[int, ...]:
        sizes = self.output_size.get_values()
        self.check_count(sizes, "output_size")
        return sizes


def _numbers(*scales: FloatAttr | None) -> list[float | None]:
    return [None if scale is None else scale.value.data for scale in scales]


class PlainResize1dOp(PlainResizeOp):
    """Base class of plain overloads that resize one dimension."""

    DIMS: ClassVar[int] = 1

    scales = opt_real()

    def factors(self) -> Sequence[float | None]:
        return _numbers(self.scales)


class PlainResize2dOp(PlainResizeOp):
    """Base class of plain overloads that resize two dimensions."""

    DIMS: ClassVar[int] = 2

    scales_h = opt_real()
    scales_w = opt_real()

    def factors(self) -> Sequence[float | None]:
        return _numbers(self.scales_h, self.scales_w)


class PlainResize3dOp(PlainResizeOp):
    """Base class of plain overloads that resize three dimensions."""

    DIMS: ClassVar[int] = 3

    scales_d = opt_real()
    scales_h = opt_real()
    scales_w = opt_real()

    def factors(self) -> Sequence[float | None]:
        return _numbers(self.scales_d, self.scales_h, self.scales_w)


class NearestResizeOp(ResizeOp):
    """
    Base class of nearest resizing, which reads element `floor(coordinate * input size / output
    size)`.
    """


class NearestExactResizeOp(ResizeOp):
    """
    Base class of exact nearest resizing: element `floor((coordinate + 0.5) * input size / output
    size)`.
    """


class SmoothResizeOp(ResizeOp):
    """
    Base class of resizing by weighted sums of near elements; with `align_corners`, the corner
    elements of input and result coincide.
    """

    ELEMENTS: ClassVar[tuple[Attribute, ...]] = FLOATS

    align_corners = boolean()


class LinearResizeOp(SmoothResizeOp):
    """Base class of linear resizing: a weighted sum of two elements in each dimension."""


class CubicResizeOp(SmoothResizeOp):
    """
    Base class of cubic resizing: a sum of four elements in each dimension, with cubic weights.
    """
