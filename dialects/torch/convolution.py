# SPDX-License-Identifier: Apache-2.0
"""Torch ops for convolutions, also transposed ones."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, IntegerType, i1
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.torch.op import (
    TensorOp,
    boolean,
    integer,
    integers,
    opt_tensor,
    tensor,
    text,
    torch_op,
)
from tilewright.dialects.torch.shapes import shown
from tilewright.dialects.torch.windows import (
    Move,
    TransposedWindow,
    Window,
    check_least,
    convolution_windows,
    per_dim,
    transposed_windows,
)
from tilewright.dialects.types import element_of, shape_of


class ConvolutionLikeOp(TensorOp, ABC):
    """
    Base class of convolutions: input [N]xCIxD..., weight COx(CI/groups)xK..., bias CO ->
    [N]xCOxD...

    The weight of a transposed convolution is CIx(CO/groups)xK...
    """

    DIMS: ClassVar[int] = 0
    """Number of dimensions that the window moves along; 0 if it follows from the weight."""

    input = tensor()
    weight = tensor()
    bias = opt_tensor()

    @abstractmethod
    def windows(self) -> Sequence[Window | TransposedWindow]:
        """Return the window that moves along each convolved dimension, in order."""

    @abstractmethod
    def channel_groups(self) -> int:
        """Return the number of groups of channels, each convolved separately."""

    @property
    def is_transposed(self) -> bool:
        """True if the convolution is transposed."""
        return False

    @property
    def dims(self) -> int:
        """Number of dimensions that the window moves along."""
        return self.DIMS or max(len(shape_of(self.weight)) - 2, 0)

    def moves(
        self, stride: DenseArrayBase[IntegerType], dilation: DenseArrayBase[IntegerType]
    ) -> list[Move]:
        """
        Return size, kernel size, stride and dilation of each convolved dimension. Raises
        `VerifyException` if one of them is below 1.
        """
        sizes = shape_of(self.input)[len(shape_of(self.input)) - self.dims :]
        steps = shape_of(self.weight)[2:]
        strides = per_dim(stride, self.dims, "stride")
        dilations = per_dim(dilation, self.dims, "dilation")
        check_least(strides, 1, "stride")
        check_least(dilations, 1, "dilation")
        check_least(steps, 1, "the kernel")
        check_least(sizes, 1, "the size of a dimension")
        return [*zip(sizes, steps, strides, dilations, strict=True)]

    def padded(self, padding: DenseArrayBase[IntegerType]) -> tuple[int, ...]:
        """Return the padding of each dimension, the same on both sides."""
        paddings = per_dim(padding, self.dims, "padding")
        check_least(paddings, 0, "padding")
        return paddings

    def result_shape(self) -> tuple[int, ...]:
        shape, weight, groups = shape_of(self.input), shape_of(self.weight), self.channel_groups()
        if len(weight) != self.dims + 2 or len(shape) not in (self.dims + 1, self.dims + 2):
            raise VerifyException(
                f"an input of {shown(shape)} and a weight of {shown(weight)} are not [N]xCIxD... "
                f"and COxCIxK... of {self.dims} dimension(s)"
            )
        check_least([groups], 1, "groups")
        if 0 in weight[:2] or weight[0] % groups:
            raise VerifyException(
                f"the channels of a weight of {shown(weight)} do not divide into {groups} groups"
            )
        taken = weight[0] if self.is_transposed else weight[1] * groups
        given = weight[1] * groups if self.is_transposed else weight[0]
        *batch, channels = shape[: len(shape) - self.dims]
        if channels != taken:
            raise VerifyException(
                f"a weight of {shown(weight)} in {groups} group(s) takes {taken} channels, the "
                f"input {shown(shape)} has {channels}"
            )
        if self.bias is not None and shape_of(self.bias) != (given,):
            raise VerifyException(f"bias has shape {given}, not {shown(shape_of(self.bias))}")
        return (*batch, given, *(window.positions for window in self.windows()))

    def result_element(self) -> Attribute:
        elements = {*map(element_of, self.operands)}
        if len(elements) > 1:
            raise VerifyException("input, weight and bias have one dtype: cast them")
        if i1 in elements:
            raise VerifyException("a convolution of bools is not defined: cast them")
        return elements.pop()


class PaddedConvolutionOp(ConvolutionLikeOp):
    """Base class of convolutions whose padding is a number of zeros for each dimension."""

    stride = integers()
    padding = integers()
    dilation = integers()
    groups = integer(1)

    def windows(self) -> Sequence[Window]:
        padding = self.padded(self.padding)
        return convolution_windows(self.moves(self.stride, self.dilation), [*zip(padding, padding)])

    def channel_groups(self) -> int:
        return self.groups.value.data


@torch_op("conv1d")
class Conv1dOp(PaddedConvolutionOp):
    """
    Convolution along one dimension.

        %3 = torch.conv1d %0, %1 bias %2 padding [1]
            : (tensor<2x4x16xf32>, tensor<8x4x3xf32>, tensor<8xf32>) -> tensor<2x8x16xf32>
    """

    DIMS: ClassVar[int] = 1
    stride = integers((1,))
    padding = integers((0,))
    dilation = integers((1,))


@torch_op("conv2d")
class Conv2dOp(PaddedConvolutionOp):
    """
    Convolution along two dimensions.

        %2 = torch.conv2d %0, %1 stride [2, 2] groups 4
            : (tensor<2x4x9x9xf32>, tensor<8x1x3x3xf32>) -> tensor<2x8x4x4xf32>
    """

    DIMS: ClassVar[int] = 2
    stride = integers((1, 1))
    padding = integers((0, 0))
    dilation = integers((1, 1))


@torch_op("conv3d")
class Conv3dOp(PaddedConvolutionOp):
    """
    Convolution along three dimensions.

        %2 = torch.conv3d %0, %1
            : (tensor<2x4x6x6x6xf32>, tensor<8x4x1x3x3xf32>) -> tensor<2x8x6x4x4xf32>
    """

    DIMS: ClassVar[int] = 3
    stride = integers((1, 1, 1))
    padding = integers((0, 0, 0))
    dilation = integers((1, 1, 1))


class NamedPaddingOp(ConvolutionLikeOp):
    """
    Base class of convolutions whose padding is named: none ("valid"), or up to the input's size
    ("same").
    """

    stride = integers()
    padding = text("valid")
    dilation = integers()
    groups = integer(1)

    def windows(self) -> Sequence[Window]:
        moves = self.moves(self.stride, self.dilation)
        if self.padding.data == "valid":
            return convolution_windows(moves, [(0, 0)] * self.dims)
        if self.padding.data != "same":
            raise VerifyException(f'padding is "valid" or "same", not {self.padding}')
        if any(stride != 1 for _, _, stride, _ in moves):
            raise VerifyException('padding "same" is for stride 1')
        totals = [dilation * (steps - 1) for _, steps, _, dilation in moves]
        return convolution_windows(moves, [(total // 2, total - total // 2) for total in totals])

    def channel_groups(self) -> int:
        return self.groups.value.data


@torch_op("conv1d.padding")
class Conv1dPaddingOp(NamedPaddingOp):
    """
    Convolution along one dimension, with padding "valid" or "same".

        %2 = torch.conv1d.padding %0, %1 padding "same"
            : (tensor<2x4x16xf32>, tensor<8x4x3xf32>) -> tensor<2x8x16xf32>
    """

    DIMS: ClassVar[int] = 1
    stride = integers((1,))
    dilation = integers((1,))


@torch_op("conv2d.padding")
class Conv2dPaddingOp(NamedPaddingOp):
    """
    Convolution along two dimensions, with padding "valid" or "same".

        %2 = torch.conv2d.padding %0, %1 padding "same"
            : (tensor<2x4x9x9xf32>, tensor<8x4x3x2xf32>) -> tensor<2x8x9x9xf32>
    """

    DIMS: ClassVar[int] = 2
    stride = integers((1, 1))
    dilation = integers((1, 1))


@torch_op("conv3d.padding")
class Conv3dPaddingOp(NamedPaddingOp):
    """
    Convolution along three dimensions, with padding "valid" or "same".

        %2 = torch.conv3d.padding %0, %1 padding "same"
            : (tensor<2x4x6x6x6xf32>, tensor<8x4x3x3x3xf32>) -> tensor<2x8x6x6x6xf32>
    """

    DIMS: ClassVar[int] = 3
    stride = integers((1, 1, 1))
    dilation = integers((1, 1, 1))


class TransposedOp(ConvolutionLikeOp):
    """
    Base class of transposed convolutions: each input element is multiplied by the kernel and added
    to a window of the result, which is the gradient of a convolution.
    """

    stride = integers()
    padding = integers()
    output_padding = integers()
    groups = integer(1)
    dilation = integers()

    @property
    def is_transposed(self) -> bool:
        return True

    def windows(self) -> Sequence[TransposedWindow]:
        extra = per_dim(self.output_padding, self.dims, "output_padding")
        moves = self.moves(self.stride, self.dilation)
        return transposed_windows(moves, self.padded(self.padding), extra)

    def channel_groups(self) -> int:
        return self.groups.value.data


@torch_op("conv_transpose1d")
class ConvTranspose1dOp(TransposedOp):
    """
    Transposed convolution along one dimension.

        %2 = torch.conv_transpose1d %0, %1 stride [2]
            : (tensor<2x4x16xf32>, tensor<4x8x3xf32>) -> tensor<2x8x33xf32>
    """

    DIMS: ClassVar[int] = 1
    stride = integers((1,))
    padding = integers((0,))
    output_padding = integers((0,))
    dilation = integers((1,))


@torch_op("conv_transpose2d.input", "conv_transpose2d")
class ConvTranspose2dOp(TransposedOp):
    """
    Transposed convolution along two dimensions.

        %2 = torch.conv_transpose2d %0, %1 stride [2, 2] output_padding [1, 1]
            : (tensor<2x4x5x5xf32>, tensor<4x8x3x3xf32>) -> tensor<2x8x12x12xf32>
    """

    DIMS: ClassVar[int] = 2
    stride = integers((1, 1))
    padding = integers((0, 0))
    output_padding = integers((0, 0))
    dilation = integers((1, 1))


@torch_op("conv_transpose3d.input", "conv_transpose3d")
class ConvTranspose3dOp(TransposedOp):
    """
    Transposed convolution along three dimensions.

        %2 = torch.conv_transpose3d %0, %1
            : (tensor<2x4x5x5x5xf32>, tensor<4x8x2x2x2xf32>) -> tensor<2x8x6x6x6xf32>
    """

    DIMS: ClassVar[int] = 3
    stride = integers((1, 1, 1))
    padding = integers((0, 0, 0))
    output_padding = integers((0, 0, 0))
    dilation = integers((1, 1, 1))


@torch_op("convolution")
class ConvolutionOp(ConvolutionLikeOp):
    """
    Convolution, transposed or not, along the dimensions of the weight after its first two.

        %2 = torch.convolution %0, %1 stride [1] padding [0] dilation [1] transposed false
            output_padding [0] groups 1
            : (tensor<2x4x16xf32>, tensor<8x4x3xf32>) -> tensor<2x8x14xf32>
    """

    stride = integers()
    padding = integers()
    dilation = integers()
    transposed = boolean()
    output_padding = integers()
    groups = integer()

    @property
    def is_transposed(self) -> bool:
        return bool(self.transposed.value.data)

    def windows(self) -> Sequence[Window | TransposedWindow]:
        moves, padding = self.moves(self.stride, self.dilation), self.padded(self.padding)
        if not self.is_transposed:
            return convolution_windows(moves, [*zip(padding, padding)])
        extra = per_dim(self.output_padding, self.dims, "output_padding")
        return transposed_windows(moves, padding, extra)

    def channel_groups(self) -> int:
        return self.groups.value.data
