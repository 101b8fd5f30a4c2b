# SPDX-License-Identifier: Apache-2.0
"""Torch ops that pool to a given output size, with windows of nearly equal size."""

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, IntegerType, TensorType, i1, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import result_def
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.element_types import FLOATS
from tilewright.dialects.torch.op import TENSOR, TensorOp, TorchOp, integers, tensor, torch_op
from tilewright.dialects.torch.shapes import shown
from tilewright.dialects.torch.windows import AdaptiveWindow, check_least, per_dim
from tilewright.dialects.types import element_of, shape_of


def adaptive_windows(
    input: SSAValue, output_size: DenseArrayBase[IntegerType], dims: int
) -> list[AdaptiveWindow]:
    """
    Return the window of each of the last `dims` dimensions of an input [N]xCxD...

    Raises `VerifyException` unless the input and `output_size` fit.
    """
    shape = shape_of(input)
    if len(shape) not in (dims + 1, dims + 2) or 0 in shape[-dims - 1 :]:
        raise VerifyException(
            f"an input of {shown(shape)} is not [N]xCxD... of {dims} dimension(s) with elements"
        )
    sizes = per_dim(output_size, dims, "output_size")
    check_least(sizes, 0, "output_size")
    return [AdaptiveWindow(*of_dim) for of_dim in zip(shape[-dims:], sizes, strict=True)]


class AdaptiveAvgPoolOp(TensorOp):
    """Base class of average pooling to `output_size`: the mean of each window."""

    DIMS: ClassVar[int]

    input = tensor()
    output_size = integers()

    def windows(self) -> list[AdaptiveWindow]:
        """Return the window of each pooled dimension."""
        return adaptive_windows(self.input, self.output_size, self.DIMS)

    def result_shape(self) -> tuple[int, ...]:
        windows = self.windows()
        return (*shape_of(self.input)[: -self.DIMS], *(window.positions for window in windows))

    def result_element(self) -> Attribute:
        if (element := element_of(self.input)) not in FLOATS:
            raise VerifyException(f"a mean of {element} is not defined: cast it to a float")
        return element


@torch_op("adaptive_avg_pool1d")
class AdaptiveAvgPool1dOp(AdaptiveAvgPoolOp):
    """
    Mean of each window of the last dimension; there are `output_size` windows.

        %1 = torch.adaptive_avg_pool1d %0 output_size [3] : (tensor<2x4x8xf32>) -> tensor<2x4x3xf32>
    """

    DIMS: ClassVar[int] = 1


@torch_op("adaptive_avg_pool2d")
class AdaptiveAvgPool2dOp(AdaptiveAvgPoolOp):
    """
    Mean of each window of the last two dimensions; there are `output_size` windows.

        %1 = torch.adaptive_avg_pool2d %0 output_size [1, 1]
            : (tensor<2x4x7x7xf32>) -> tensor<2x4x1x1xf32>
    """

    DIMS: ClassVar[int] = 2


@torch_op("adaptive_avg_pool3d")
class AdaptiveAvgPool3dOp(AdaptiveAvgPoolOp):
    """
    Mean of each window of the last three dimensions; there are `output_size` windows.

        %1 = torch.adaptive_avg_pool3d %0 output_size [2, 2, 2]
            : (tensor<2x4x7x7x7xf32>) -> tensor<2x4x2x2x2xf32>
    """

    DIMS: ClassVar[int] = 3


@torch_op("_adaptive_avg_pool2d")
class CoreAdaptiveAvgPool2dOp(AdaptiveAvgPoolOp):
    """
    `adaptive_avg_pool2d` under its name in core ATen.

        %1 = torch._adaptive_avg_pool2d %0 output_size [3, 3]
            : (tensor<2x4x7x7xf32>) -> tensor<2x4x3x3xf32>
    """

    DIMS: ClassVar[int] = 2


@torch_op("_adaptive_avg_pool3d")
class CoreAdaptiveAvgPool3dOp(AdaptiveAvgPoolOp):
    """
    `adaptive_avg_pool3d` under its name in core ATen.

        %1 = torch._adaptive_avg_pool3d %0 output_size [3, 3, 3]
            : (tensor<2x4x7x7x7xf32>) -> tensor<2x4x3x3x3xf32>
    """

    DIMS: ClassVar[int] = 3


class AdaptiveMaxPoolOp(TorchOp):
    """
    Base class of maximum pooling to `output_size`: the largest element of each window, and its
    position.

    NaN is the largest. The position is a row-major index into the pooled dimensions. Of several
    equal elements it is the first, of several NaN the last.
    """

    DIMS: ClassVar[int]

    input = tensor()
    output_size = integers()
    values = result_def(TENSOR)
    indices = result_def(TENSOR)

    def windows(self) -> list[AdaptiveWindow]:
        """Return the window of each pooled dimension."""
        return adaptive_windows(self.input, self.output_size, self.DIMS)

    def expected_types(self) -> Sequence[TensorType[Attribute]]:
        if (element := element_of(self.input)) == i1:
            raise VerifyException("pooling of bools is not defined: cast them")
        positions = (window.positions for window in self.windows())
        shape = (*shape_of(self.input)[: -self.DIMS], *positions)
        return [TensorType(element, shape), TensorType(i64, shape)]


@torch_op("adaptive_max_pool1d")
class AdaptiveMaxPool1dOp(AdaptiveMaxPoolOp):
    """
    Largest element, and its position, of each window of the last dimension.

        %1, %2 = torch.adaptive_max_pool1d %0 output_size [3]
            : (tensor<2x4x8xf32>) -> (tensor<2x4x3xf32>, tensor<2x4x3xi64>)
    """

    DIMS: ClassVar[int] = 1


@torch_op("adaptive_max_pool2d")
class AdaptiveMaxPool2dOp(AdaptiveMaxPoolOp):
    """
    Largest element, and its position, of each window of the last two dimensions.

        %1, %2 = torch.adaptive_max_pool2d %0 output_size [3, 3]
            : (tensor<2x4x8x8xf32>) -> (tensor<2x4x3x3xf32>, tensor<2x4x3x3xi64>)
    """

    DIMS: ClassVar[int] = 2


@torch_op("adaptive_max_pool3d")
class AdaptiveMaxPool3dOp(AdaptiveMaxPoolOp):
    """
    Largest element, and its position, of each window of the last three dimensions.

        %1, %2 = torch.adaptive_max_pool3d %0 output_size [3, 3, 3]
            : (tensor<4x8x8x8xf32>) -> (tensor<4x3x3x3xf32>, tensor<4x3x3x3xi64>)
    """

    DIMS: ClassVar[int] = 3
