# SPDX-License-Identifier: Apache-2.0
"""
Normalisations along dimensions: statistics of a row, applied to each element of the row.

    %1 = torch.softmax.int %0 dim -1 : (tensor<4x8xf32>) -> tensor<4x8xf32>

becomes

    %m = prim.reduce max(%0) dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
    %b = prim.index_map %m by affine_map<(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x8xf32>
    %d = prim.elementwise sub(%0, %b) : tensor<4x8xf32>
    %e = prim.elementwise exp(%d) : tensor<4x8xf32>
    %s = prim.reduce add(%e) dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
    %r = prim.index_map %s by affine_map<(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x8xf32>
    %1 = prim.elementwise div(%e, %r) : tensor<4x8xf32>
"""

from tilewright.dialects import torch
from tilewright.passes.decompose.decomposition import Decomposition, Table
from tilewright.passes.decompose.tensor import Emitter, Tensor

_FLOAT32_EPS = 2.0**-23
"""`torch.finfo(torch.float32).eps`, which stands for an absent eps."""


class Softmax(Decomposition[torch.SoftmaxOp]):
    """exp(input - max) / its sum: shifted so that exp cannot overflow. A row of -inf gives NaN."""

    def decompose(self, op: torch.SoftmaxOp, emit: Emitter) -> Tensor:
        input = emit(op.input)
        # A scalar has no dimension, and is its own maximum and sum.
        dims = [torch.wrap_dim(op.dim.value.data, len(input.shape))] if input.shape else []
        exp = (input - input.max(dims).unsqueeze(dims)).exp()
        return exp / exp.sum(dims).unsqueeze(dims)


def normalized_dims(op: torch.RmsNormOp | torch.LayerNormOp) -> range:
    """The last dimensions, which `normalized_shape` gives the sizes of."""
    rank = len(torch.shape_of(op.input))
    return range(rank - len(op.normalized_shape.get_values()), rank)


class RmsNorm(Decomposition[torch.RmsNormOp]):
    """input * rsqrt(mean(input^2) + eps) * weight"""

    def decompose(self, op: torch.RmsNormOp, emit: Emitter) -> Tensor:
        input, dims = emit(op.input), normalized_dims(op)
        eps = _FLOAT32_EPS if op.eps is None else emit(op.eps)
        mean_square = (input * input).mean(dims)
        result = input * (mean_square + eps).rsqrt().unsqueeze(dims)
        return result if op.weight is None else result * emit(op.weight)


class LayerNorm(Decomposition[torch.LayerNormOp]):
    """
    (input - mean) * rsqrt(variance + eps) * weight + bias. The variance takes a second pass over
    what is centred: mean(input^2) - mean^2 would cancel.
    """

    def decompose(self, op: torch.LayerNormOp, emit: Emitter) -> Tensor:
        input, dims = emit(op.input), normalized_dims(op)
        centred = input - input.mean(dims).unsqueeze(dims)
        variance = (centred * centred).mean(dims)
        result = centred * (variance + emit(op.eps)).rsqrt().unsqueeze(dims)
        if op.weight is not None:
            result *= emit(op.weight)
        return result if op.bias is None else result + emit(op.bias)


PATTERNS: Table = {
    torch.SoftmaxOp: Softmax(),
    torch.RmsNormOp: RmsNorm(),
    torch.LayerNormOp: LayerNorm(),
}
