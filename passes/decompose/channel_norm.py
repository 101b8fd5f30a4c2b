# SPDX-License-Identifier: Apache-2.0
"""
Decompositions of batch, instance and group norm: each channel (dimension 1) has its own weight and
bias.

    %1 = torch.instance_norm %0 ... : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>

becomes the ops of `layer_norm` over dimension 2, except that parameters go along dimension 1:

    %w = prim.index_map %weight by affine_map<(d0, d1, d2) -> (d1)>
        : tensor<4xf32> -> tensor<2x4x8xf32>

On a CPU, PyTorch rounds the statistics of batches and instances of half types to these types. These
decompositions keep the statistics in f32 and round only the result.
"""

from math import prod

from xdsl.ir import SSAValue

from tilewright.dialects import torch
from tilewright.dialects.element_types import Number
from tilewright.passes.decompose.decomposition import Decomposition, Table
from tilewright.passes.decompose.normalization import Normed, normed, parameter
from tilewright.passes.decompose.tensor import Emitter, Tensor


def _by_channel(emit: Emitter, value: SSAValue, rank: int) -> Tensor:
    """
    Return a parameter with dimensions of size 1 after it, so that it aligns with the channels.
    """
    return parameter(emit, value).unsqueeze(range(1, rank - 1))


def _affine(
    emit: Emitter, result: Tensor, weight: SSAValue | None, bias: SSAValue | None
) -> Tensor:
    """Return `result * weight + bias`; weight or bias may be missing."""
    if weight is not None:
        result *= _by_channel(emit, weight, result.rank)
    return result if bias is None else result + _by_channel(emit, bias, result.rank)


def _normed_groups(input: Tensor, groups: int, eps: Number) -> Normed:
    """Return the input normalised by the statistics of each group of channels of each sample."""
    batch, channels, *space = input.shape
    grouped = input.reshape((batch, groups, channels // groups * prod(space)))
    result, mean, rstd = normed(grouped, [2], eps)
    return Normed(result.reshape(input.shape), mean, rstd)


class GroupNorm(Decomposition[torch.GroupNormOp]):
    """Decomposition of `group_norm`: each group of channels of each sample is normalised."""

    def decompose(self, op: torch.GroupNormOp, emit: Emitter) -> Tensor:
        groups = op.num_groups.value.data
        result, _, _ = _normed_groups(emit(op.input), groups, emit(op.eps))
        return _affine(emit, result, op.weight, op.bias)


class NativeGroupNorm(Decomposition[torch.NativeGroupNormOp]):
    """Decomposition of `native_group_norm`: the result of `group_norm`, and its statistics."""

    def decompose(self, op: torch.NativeGroupNormOp, emit: Emitter) -> list[Tensor]:
        groups = op.group.value.data
        result, mean, rstd = _normed_groups(emit(op.input), groups, emit(op.eps))
        return [_affine(emit, result, op.weight, op.bias), mean, rstd]


def _normed_by(
    emit: Emitter, input: Tensor, mean: SSAValue, variance: SSAValue, eps: Number
) -> Tensor:
    """
    Return `(input - mean) * rsqrt(variance + eps)`, with a mean and a variance for each channel.
    """
    centred = input - _by_channel(emit, mean, input.rank)
    rstd = (parameter(emit, variance) + eps).rsqrt()
    return centred * rstd.unsqueeze(range(1, input.rank - 1))


class InstanceNorm(Decomposition[torch.InstanceNormOp]):
    """
    Decomposition of `instance_norm`: each channel of each sample is normalised by its own
    statistics, or by the running statistics if there are any.
    """

    def decompose(self, op: torch.InstanceNormOp, emit: Emitter) -> Tensor:
        input, eps = emit(op.input), emit(op.eps)
        if op.running_mean is None or op.running_var is None:
            result, _, _ = normed(input, range(2, input.rank), eps)
        else:
            result = _normed_by(emit, input, op.running_mean, op.running_var, eps)
        return _affine(emit, result, op.weight, op.bias)


class BatchNorm(Decomposition[torch.BatchNormOp]):
    """
    Decomposition of batch norm for inference: each channel is normalised by its running statistics.
    The other two results serve only training, and are empty.
    """

    def decompose(self, op: torch.BatchNormOp, emit: Emitter) -> list[Tensor]:
        input, eps = emit(op.input), emit(op.eps)
        result = _normed_by(emit, input, op.running_mean, op.running_var, eps)
        nothing = emit.constant(0.0, (0,))
        return [_affine(emit, result, op.weight, op.bias), nothing, nothing]


class BatchNormNoStats(Decomposition[torch.BatchNormNoStatsOp]):
    """
    Decomposition of batch norm without running statistics: each channel is normalised by the
    statistics of the batch.
    """

    def decompose(self, op: torch.BatchNormNoStatsOp, emit: Emitter) -> list[Tensor]:
        input = emit(op.input)
        dims = [0, *range(2, input.rank)]
        result, mean, rstd = normed(input, dims, emit(op.eps))
        return [_affine(emit, result, op.weight, op.bias), mean, rstd]


PATTERNS: Table = {
    torch.GroupNormOp: GroupNorm(),
    torch.NativeGroupNormOp: NativeGroupNorm(),
    torch.InstanceNormOp: InstanceNorm(),
    torch.BatchNormOp: BatchNorm(),
    torch.BatchNormNoStatsOp: BatchNormNoStats(),
}
