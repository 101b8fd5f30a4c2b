# SPDX-License-Identifier: Apache-2.0
"""Torch ops that pool: they reduce each position of a moving window."""

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, IntegerType, TensorType, i1, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import result_def
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.torch.op import (
    TENSOR,
    TensorOp,
    TorchOp,
    boolean,
    integers,
    opt_integer,
    tensor,
    torch_op,
)
from tilewright.dialects.torch.shapes import shown
from tilewright.dialects.torch.windows import AdaptiveWindow, Window, check_least, per_dim
from tilewright.dialects.types import element_of, shape_of


def _check_pooled(input: SSAValue, dims: int) -> None:
    """Raise `VerifyException` unless the input is [N]xCxD..., with elements, and not of bools."""
    shape = shape_of(input)
    if len(shape) not in (dims + 1, dims + 2) or 0 in shape[-dims - 1 :]:
        raise VerifyException(
            f"an input of {shown(shape)} is not [N]xCxD... of {dims} dimension(s) with elements"
        )
    if element_of(input) == i1:
        raise VerifyException("pooling of bools is not defined: cast them")


def pooling_windows(
    size: Sequence[int],
    kernel_size: DenseArrayBase[IntegerType],
    stride: DenseArrayBase[IntegerType],
    padding: DenseArrayBase[IntegerType],
    dilation: DenseArrayBase[IntegerType] | None,
    ceil_mode: bool,
) -> list[Window]:
    """Return the window of each dimension; the stride defaults to the kernel size."""
    dims = len(size)
    steps = per_dim(kernel_size, dims, "kernel_size")
    strides = per_dim(stride, dims, "stride") if stride.get_values() else steps
    dilations = per_dim(dilation, dims, "dilation") if dilation is not None else (1,) * dims
    for values, name in ((steps, "kernel_size"), (strides, "stride"), (dilations, "dilation")):
        check_least(values, 1, name)
    paddings = per_dim(padding, dims, "padding")
    return [
        _pooling_window(*of_dim, ceil_mode)
        for of_dim in zip(size, steps, strides, dilations, paddings, strict=True)
    ]


def _pooling_window(
    size: int, steps: int, stride: int, dilation: int, padding: int, ceil_mode: bool
) -> Window:
    if not 0 <= padding <= steps // 2:
        raise VerifyException(f"padding {padding} must be at most half of the kernel size {steps}")
    rest = size + 2 * padding - dilation * (steps - 1) - 1
    positions = (rest + (stride - 1 if ceil_mode else 0)) // stride + 1
    # The last window must begin within the elements or the padding before them.
    if ceil_mode and (positions - 1) * stride >= size + padding:
        positions -= 1
    if positions < 1:
        raise VerifyException(f"a window of {steps} does not fit in {size} elements")
    return Window(size, positions, steps, stride, dilation, padding, padding)


# --- Maxima ----------------------------------------------------------------------------------


class MaxPoolLikeOp(TorchOp):
    """
    Base class of maximum pooling: the largest element of each window; NaN is the largest, padding
    is -inf.
    """

    DIMS: ClassVar[int]

    input = tensor()
    kernel_size = integers()
    stride = integers(())
    padding = integers()
    dilation = integers()
    ceil_mode = boolean(False)

    def windows(self) -> Sequence[Window | AdaptiveWindow]:
        """Return the window of each pooled dimension."""
        _check_pooled(self.input, self.DIMS)
        size, ceil_mode = shape_of(self.input)[-self.DIMS :], bool(self.ceil_mode.value.data)
        windows = pooling_windows(
            size, self.kernel_size, self.stride, self.padding, self.dilation, ceil_mode
        )
        for window in windows:
            if not window.reads_at_each_position():
                raise VerifyException(
                    f"a window of {window.steps} with dilation {window.dilation} sees only padding"
                )
        return windows

    def pooled_shape(self) -> tuple[int, ...]:
        """Return the shape of the result, which has one element for each position of the window."""
        windows = self.windows()
        return (*shape_of(self.input)[: -self.DIMS], *(window.positions for window in windows))


class MaxPoolOp(MaxPoolLikeOp):
    """Base class of maximum pooling that returns the elements only."""

    result = result_def(TENSOR)

    def expected_types(self) -> Sequence[TensorType[Attribute]]:
        return [TensorType(element_of(self.input), self.pooled_shape())]


class MaxPoolWithIndicesOp(MaxPoolLikeOp):
    """
    Base class of maximum pooling that returns the elements and their positions.

    A position is a row-major index into the pooled dimensions. Of several equal elements it is the
    first, of several NaN the last.
    """

    values = result_def(TENSOR)
    indices = result_def(TENSOR)

    def expected_types(self) -> Sequence[TensorType[Attribute]]:
        shape = self.pooled_shape()
        return [TensorType(element_of(self.input), shape), TensorType(i64, shape)]


@torch_op("max_pool1d")
class MaxPool1dOp(MaxPoolOp):
    """
    The largest element of each window along the last dimension.

        %1 = torch.max_pool1d %0 kernel_size [2] : (tensor<2x4x9xf32>) -> tensor<2x4x4xf32>
    """

    DIMS: ClassVar[int] = 1
    padding = integers((0,))
    dilation = integers((1,))


@torch_op("max_pool2d")
class MaxPool2dOp(MaxPoolOp):
    """
    The largest element of each window along the last two dimensions.

        %1 = torch.max_pool2d %0 kernel_size [3, 3] stride [2, 2] padding [1, 1]
            : (tensor<2x4x9x9xf32>) -> tensor<2x4x5x5xf32>
    """

    DIMS: ClassVar[int] = 2
    padding = integers((0, 0))
    dilation = integers((1, 1))


@torch_op("max_pool3d")
class MaxPool3dOp(MaxPoolOp):
    """
    The largest element of each window along the last three dimensions.

        %1 = torch.max_pool3d %0 kernel_size [2, 2, 2]
            : (tensor<2x4x8x8x8xf32>) -> tensor<2x4x4x4x4xf32>
    """

    DIMS: ClassVar[int] = 3
    padding = integers((0, 0, 0))
    dilation = integers((1, 1, 1))


@torch_op("max_pool1d_with_indices")
class MaxPool1dWithIndicesOp(MaxPoolWithIndicesOp):
    """
    The largest element, and its position, of each window along the last dimension.

        %1, %2 = torch.max_pool1d_with_indices %0 kernel_size [2]
            : (tensor<2x4x9xf32>) -> (tensor<2x4x4xf32>, tensor<2x4x4xi64>)
    """

    DIMS: ClassVar[int] = 1
    padding = integers((0,))
    dilation = integers((1,))


@torch_op("max_pool2d_with_indices")
class MaxPool2dWithIndicesOp(MaxPoolWithIndicesOp):
    """
    The largest element, and its position, of each window along the last two dimensions.

        %1, %2 = torch.max_pool2d_with_indices %0 kernel_size [3, 3] stride [2, 2]
            : (tensor<2x4x9x9xf32>) -> (tensor<2x4x4x4xf32>, tensor<2x4x4x4xi64>)
    """

    DIMS: ClassVar[int] = 2
    padding = integers((0, 0))
    dilation = integers((1, 1))


@torch_op("max_pool3d_with_indices")
class MaxPool3dWithIndicesOp(MaxPoolWithIndicesOp):
    """
    The largest element, and its position, of each window along the last three dimensions.

        %1, %2 = torch.max_pool3d_with_indices %0 kernel_size [2, 2, 2]
            : (tensor<4x8x8x8xf32>) -> (tensor<4x4x4x4xf32>, tensor<4x4x4x4xi64>)
    """

    DIMS: ClassVar[int] = 3
    padding = integers((0, 0, 0))
    dilation = integers((1, 1, 1))


# --- Means -----------------------------------------------------------------------------------


class AvgPoolOp(TensorOp):
    """
    Base class of average pooling: the mean of each window.

    With `count_include_pad`, padding counts as zeros; without it, padding is left out of the mean.
    """

    DIMS: ClassVar[int]

    input = tensor()
    kernel_size = integers()
    stride = integers(())
    padding = integers()
    ceil_mode = boolean(False)
    count_include_pad = boolean(True)

    def divisor(self) -> int | None:
        """
        Return the number by which the sum of each window is divided; None for its number of
        elements.
        """
        return None

    def windows(self) -> list[Window]:
        """Return the window of each pooled dimension."""
        _check_pooled(self.input, self.DIMS)
        size, ceil_mode = shape_of(self.input)[-self.DIMS :], bool(self.ceil_mode.value.data)
        return pooling_windows(size, self.kernel_size, self.stride, self.padding, None, ceil_mode)

    def result_shape(self) -> tuple[int, ...]:
        if self.divisor() == 0:
            raise VerifyException("divisor_override must not be 0")
        windows = self.windows()
        return (*shape_of(self.input)[: -self.DIMS], *(window.positions for window in windows))


@torch_op("avg_pool1d")
class AvgPool1dOp(AvgPoolOp):
    """
    The mean of each window along the last dimension.

        %1 = torch.avg_pool1d %0 kernel_size [3] stride [1] padding [1]
            : (tensor<2x4x9xf32>) -> tensor<2x4x9xf32>
    """

    DIMS: ClassVar[int] = 1
    padding = integers((0,))


class OverriddenAvgPoolOp(AvgPoolOp):
    """Base class of average pooling whose divisor may be given."""

    divisor_override = opt_integer()

    def divisor(self) -> int | None:
        return None if self.divisor_override is None else self.divisor_override.value.data


@torch_op("avg_pool2d")
class AvgPool2dOp(OverriddenAvgPoolOp):
    """
    The mean of each window along the last two dimensions.

        %1 = torch.avg_pool2d %0 kernel_size [2, 2] ceil_mode true
            : (tensor<2x4x9x9xf32>) -> tensor<2x4x5x5xf32>
    """

    DIMS: ClassVar[int] = 2
    padding = integers((0, 0))


@torch_op("avg_pool3d")
class AvgPool3dOp(OverriddenAvgPoolOp):
    """
    The mean of each window along the last three dimensions.

        %1 = torch.avg_pool3d %0 kernel_size [2, 2, 2]
            : (tensor<2x4x8x8x8xf32>) -> tensor<2x4x4x4x4xf32>
    """

    DIMS: ClassVar[int] = 3
    padding = integers((0, 0, 0))
