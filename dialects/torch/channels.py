# SPDX-License-Identifier: Apache-2.0
"""Torch ops that move elements between the channels and the pixels of images."""

from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.torch.op import TensorOp, integer, tensor, torch_op
from tilewright.dialects.torch.shapes import shown
from tilewright.dialects.types import shape_of


@torch_op("pixel_shuffle")
class PixelShuffleOp(TensorOp):
    """
    Rearrangement of channels into squares of `upscale_factor` x `upscale_factor` pixels.

        %1 = torch.pixel_shuffle %0 upscale_factor 2 : (tensor<8x3x3xf32>) -> tensor<2x6x6xf32>
    """

    input = tensor()
    upscale_factor = integer()

    def result_shape(self) -> tuple[int, ...]:
        shape, factor = shape_of(self.input), self.upscale_factor.value.data
        if len(shape) < 3 or factor < 1 or shape[-3] % factor**2:
            raise VerifyException(f"{factor}x{factor} pixels do not divide {shown(shape)}")
        *batch, channels, height, width = shape
        return (*batch, channels // factor**2, height * factor, width * factor)


@torch_op("pixel_unshuffle")
class PixelUnshuffleOp(TensorOp):
    """
    Rearrangement of squares of `downscale_factor` x `downscale_factor` pixels into channels.

        %1 = torch.pixel_unshuffle %0 downscale_factor 2 : (tensor<2x6x6xf32>) -> tensor<8x3x3xf32>
    """

    input = tensor()
    downscale_factor = integer()

    def result_shape(self) -> tuple[int, ...]:
        shape, factor = shape_of(self.input), self.downscale_factor.value.data
        if len(shape) < 3 or factor < 1 or shape[-2] % factor or shape[-1] % factor:
            raise VerifyException(f"{factor}x{factor} pixels do not divide {shown(shape)}")
        *batch, channels, height, width = shape
        return (*batch, channels * factor**2, height // factor, width // factor)


@torch_op("channel_shuffle")
class ChannelShuffleOp(TensorOp):
    """
    Permutation of the channels: of `groups` equal runs, one channel of each run in turn.

        %1 = torch.channel_shuffle %0 groups 2 : (tensor<1x6x3xf32>) -> tensor<1x6x3xf32>
    """

    input = tensor()
    groups = integer()

    def result_shape(self) -> tuple[int, ...]:
        shape, groups = shape_of(self.input), self.groups.value.data
        if len(shape) < 3 or groups < 1 or shape[1] % groups:
            raise VerifyException(f"{groups} groups do not divide the channels of {shown(shape)}")
        return shape
