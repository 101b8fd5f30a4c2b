# SPDX-License-Identifier: Apache-2.0
"""
Decompositions of ops that only rearrange elements: one `prim.index_map`, or no op if no element
moves.

    %1 = torch.reshape %0 shape [2, -1] : (tensor<4x8xf32>) -> tensor<2x16xf32>

becomes

    %1 = prim.index_map %0 by affine_map<(d0, d1) -> (((d0 * 2) + (d1 floordiv 8)), (d1 mod 8))>
        : tensor<4x8xf32> -> tensor<2x16xf32>
"""

from math import prod

from tilewright.dialects import torch
from tilewright.passes.decompose.decomposition import Decomposition, Table
from tilewright.passes.decompose.tensor import Emitter, Tensor
from tilewright.passes.decompose.view import axes_of

ReshapeOp = (
    torch.IdentityOp
    | torch.ReshapeOp
    | torch.ViewOp
    | torch.UnsafeViewOp
    | torch.FlattenOp
    | torch.UnsqueezeOp
    | torch.SqueezeOp
    | torch.SqueezeDimOp
    | torch.SqueezeDimsOp
)


class Reshape(Decomposition[ReshapeOp]):
    """
    Decomposition of reshapes, views and copies: the elements in row-major order, in the shape of
    the result.
    """

    def decompose(self, op: ReshapeOp, emit: Emitter) -> Tensor:
        return emit.stored(op.input).reshape(op.result_shape())


class T(Decomposition[torch.TOp]):
    """Decomposition of `t`: at most two dimensions, reversed."""

    def decompose(self, op: torch.TOp, emit: Emitter) -> Tensor:
        input = emit.stored(op.input)
        return input.permute([*reversed(range(len(input.shape)))])


class Transpose(Decomposition[torch.TransposeOp]):
    """Decomposition of `transpose`: two dimensions exchanged."""

    def decompose(self, op: torch.TransposeOp, emit: Emitter) -> Tensor:
        input = emit.stored(op.input)
        dims = [*range(len(input.shape))]
        if not dims:
            return input
        first, second = (d.value.data % len(dims) for d in (op.dim0, op.dim1))
        dims[first], dims[second] = second, first
        return input.permute(dims)


class Permute(Decomposition[torch.PermuteOp]):
    """Decomposition of `permute`: the dimensions in another order."""

    def decompose(self, op: torch.PermuteOp, emit: Emitter) -> Tensor:
        input, dims = emit.stored(op.input), op.dims.get_values()
        return input.permute([dim % len(dims) for dim in dims])


class Expand(Decomposition[torch.ExpandOp]):
    """Decomposition of `expand`: dimensions of size 1 repeated, and new dimensions in front."""

    def decompose(self, op: torch.ExpandOp, emit: Emitter) -> Tensor:
        return emit.stored(op.input).broadcast(op.result_shape())


class Repeat(Decomposition[torch.RepeatOp]):
    """Decomposition of `repeat`: the tensor repeated along each dimension."""

    def decompose(self, op: torch.RepeatOp, emit: Emitter) -> Tensor:
        input, shape = emit.stored(op.input), op.result_shape()
        axes = axes_of(len(shape))[len(shape) - input.rank :]
        periods = zip(axes, input.shape, strict=True)
        return input.view([axis % max(size, 1) for axis, size in periods], shape)


class RepeatInterleave(Decomposition[torch.RepeatInterleaveOp]):
    """Decomposition of `repeat_interleave`: each element repeated several times in a row."""

    def decompose(self, op: torch.RepeatInterleaveOp, emit: Emitter) -> Tensor:
        input, shape = emit.stored(op.input), op.result_shape()
        if op.dim is None:
            input = input.reshape((prod(input.shape),))
        dim = 0 if op.dim is None else op.dim.value.data % input.rank
        coordinates = axes_of(input.rank)
        coordinates[dim] = coordinates[dim] // max(op.repeats.value.data, 1)
        return input.view(coordinates, shape)


class PixelShuffle(Decomposition[torch.PixelShuffleOp]):
    """
    Decomposition of `pixel_shuffle`: pixel (y, x) is read from the channel for its place within a
    square.
    """

    def decompose(self, op: torch.PixelShuffleOp, emit: Emitter) -> Tensor:
        factor, shape = op.upscale_factor.value.data, op.result_shape()
        *batch, channel, y, x = axes_of(len(shape))
        channel = channel * factor**2 + (y % factor) * factor + x % factor
        return emit.stored(op.input).view([*batch, channel, y // factor, x // factor], shape)


class PixelUnshuffle(Decomposition[torch.PixelUnshuffleOp]):
    """
    Decomposition of `pixel_unshuffle`: each channel holds the pixels of one place within squares.
    """

    def decompose(self, op: torch.PixelUnshuffleOp, emit: Emitter) -> Tensor:
        factor, shape = op.downscale_factor.value.data, op.result_shape()
        *batch, channel, y, x = axes_of(len(shape))
        y = y * factor + channel // factor % factor
        x = x * factor + channel % factor
        return emit.stored(op.input).view([*batch, channel // factor**2, y, x], shape)


class ChannelShuffle(Decomposition[torch.ChannelShuffleOp]):
    """
    Decomposition of `channel_shuffle`: channels ordered by group and place become ordered by place
    and group.
    """

    def decompose(self, op: torch.ChannelShuffleOp, emit: Emitter) -> Tensor:
        groups, shape = op.groups.value.data, op.result_shape()
        coordinates = axes_of(len(shape))
        channel = coordinates[1]
        coordinates[1] = (channel % groups) * (shape[1] // groups) + channel // groups
        return emit.stored(op.input).view(coordinates, shape)


PATTERNS: Table = {
    torch.CloneOp: Reshape(),
    torch.ContiguousOp: Reshape(),
    torch.AliasOp: Reshape(),
    torch.DetachOp: Reshape(),
    torch.LiftFreshCopyOp: Reshape(),
    torch.ReshapeOp: Reshape(),
    torch.ViewOp: Reshape(),
    torch.UnsafeViewOp: Reshape(),
    torch.FlattenOp: Reshape(),
    torch.UnsqueezeOp: Reshape(),
    torch.SqueezeOp: Reshape(),
    torch.SqueezeDimOp: Reshape(),
    torch.SqueezeDimsOp: Reshape(),
    torch.TOp: T(),
    torch.TransposeOp: Transpose(),
    torch.PermuteOp: Permute(),
    torch.ExpandOp: Expand(),
    torch.RepeatOp: Repeat(),
    torch.RepeatInterleaveOp: RepeatInterleave(),
    torch.PixelShuffleOp: PixelShuffle(),
    torch.PixelUnshuffleOp: PixelUnshuffle(),
    torch.ChannelShuffleOp: ChannelShuffle(),
}
