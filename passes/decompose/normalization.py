# SPDX-License-Identifier: Apache-2.0
"""
Decompositions of normalisations along dimensions: statistics of a row are applied to each of its
elements.

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

from collections.abc import Sequence
from math import inf, prod
from typing import NamedTuple

from xdsl.dialects.builtin import f64
from xdsl.ir import SSAValue

from tilewright.dialects import torch
from tilewright.dialects.element_types import FLOATS, Number, compute_type
from tilewright.dialects.types import shape_of
from tilewright.passes.decompose.decomposition import Decomposition, Table
from tilewright.passes.decompose.tensor import Emitter, Tensor

# --- Softmax ---------------------------------------------------------------------------------


def _softmax_dims(op: torch.SoftmaxLikeOp) -> list[int]:
    """Return the dimension of a softmax; none for a scalar, which is its own maximum and sum."""
    rank = len(shape_of(op.input))
    return [torch.wrap_dim(op.dim.value.data, rank)] if rank else []


def _softmax(input: Tensor, dims: Sequence[int]) -> Tensor:
    """
    Return the softmax of the input, shifted so that exp cannot overflow. A row of -inf gives NaN.
    """
    exp = (input - input.max(dims).unsqueeze(dims)).exp()
    return exp / exp.sum(dims).unsqueeze(dims)


class Softmax(Decomposition[torch.SoftmaxOp | torch.SoftmaxCoreOp]):
    """Decomposition of `softmax`: `exp(input - max)`, divided by its sum."""

    def decompose(self, op: torch.SoftmaxOp | torch.SoftmaxCoreOp, emit: Emitter) -> Tensor:
        return _softmax(emit(op.input), _softmax_dims(op))


class SafeSoftmax(Decomposition[torch.SafeSoftmaxOp]):
    """
    Decomposition of `_safe_softmax`: `softmax(input)`, but 0 in rows of -inf. The input is tested
    before it is cast.
    """

    def decompose(self, op: torch.SafeSoftmaxOp, emit: Emitter) -> Tensor:
        dims = _softmax_dims(op)
        result, input = _softmax(emit(op.input), dims), emit.stored(op.input)
        if input.element not in FLOATS:
            return result
        largest = input.cast(compute_type(input.element)).max(dims)
        return largest.equals(-inf).unsqueeze(dims).where(0.0, result)


class LogSoftmax(Decomposition[torch.LogSoftmaxOp | torch.LogSoftmaxCoreOp]):
    """Decomposition of `log_softmax`: `input - max - log(sum(exp(input - max)))`."""

    def decompose(self, op: torch.LogSoftmaxOp | torch.LogSoftmaxCoreOp, emit: Emitter) -> Tensor:
        input, dims = emit(op.input), _softmax_dims(op)
        shifted = input - input.max(dims).unsqueeze(dims)
        return shifted - shifted.exp().sum(dims).log().unsqueeze(dims)


# --- Norms -----------------------------------------------------------------------------------


class Normed(NamedTuple):
    """
    Normalised input, with its mean and reciprocal standard deviation, which lack the normalised
    dimensions.
    """

    result: Tensor
    mean: Tensor
    rstd: Tensor


def normed(input: Tensor, dims: Sequence[int], eps: Number) -> Normed:
    """
    Return `(input - mean) * rsqrt(variance + eps)` and its statistics. The variance takes a second
    pass over the centred input, because `mean(input^2) - mean^2` would cancel.
    """
    size = prod(input.shape[dim] for dim in dims)
    # The mean of no elements is 0 here, as in PyTorch's native_layer_norm.
    mean = input.mean(dims) if size else input.sum(dims)
    centred = input - mean.unsqueeze(dims)
    rstd = ((centred * centred).mean(dims) + eps).rsqrt()
    return Normed(centred * rstd.unsqueeze(dims), mean, rstd)


def parameter(emit: Emitter, value: SSAValue) -> Tensor:
    """
    Return a parameter in the type of computation; it is not rounded to the input's type first.
    """
    return emit.stored(value).cast(emit.type)


def affine(emit: Emitter, result: Tensor, weight: SSAValue | None, bias: SSAValue | None) -> Tensor:
    """
    Return `result * weight + bias`, aligned at the last dimension; weight or bias may be missing.
    """
    if weight is not None:
        result *= parameter(emit, weight)
    return result if bias is None else result + parameter(emit, bias)


class LayerNorm(Decomposition[torch.LayerNormOp]):
    """Decomposition of `layer_norm`: `(input - mean) * rsqrt(variance + eps) * weight + bias`."""

    def decompose(self, op: torch.LayerNormOp, emit: Emitter) -> Tensor:
        result, _, _ = normed(emit(op.input), op.normalized_dims(), emit(op.eps))
        return affine(emit, result, op.weight, op.bias)


class NativeLayerNorm(Decomposition[torch.NativeLayerNormOp]):
    """Decomposition of `native_layer_norm`: the result of `layer_norm`, and its statistics."""

    def decompose(self, op: torch.NativeLayerNormOp, emit: Emitter) -> list[Tensor]:
        result, mean, rstd = normed(emit(op.input), op.normalized_dims(), emit(op.eps))
        shape = op.statistics_shape()
        return [
            affine(emit, result, op.weight, op.bias),
            mean.reshape(shape),
            rstd.reshape(shape),
        ]


_EPS = {"f32": 2.0**-23, "f64": 2.0**-52}
"""Default of eps: `torch.finfo(...).eps` of each type of computation."""


def _rms_normed(op: torch.RmsNormOp | torch.FusedRmsNormOp, emit: Emitter) -> tuple[Tensor, Tensor]:
    """
    Return `input * rsqrt(mean(input^2) + eps) * weight`, and the factor of the input,
    `rsqrt(mean(input^2) + eps)`.
    """
    input, dims = emit(op.input), op.normalized_dims()
    eps = _EPS[str(emit.type)] if op.eps is None else emit(op.eps)
    rstd = ((input * input).mean(dims) + eps).rsqrt()
    result = input * rstd.unsqueeze(dims)
    if op.weight is None:
        return result, rstd
    # A float64 weight is multiplied in float64.
    weight = emit.stored(op.weight)
    type = f64 if weight.element == f64 else emit.type
    return result.cast(type) * weight.cast(type), rstd


class RmsNorm(Decomposition[torch.RmsNormOp]):
    """Decomposition of `rms_norm`: `input * rsqrt(mean(input^2) + eps) * weight`."""

    def decompose(self, op: torch.RmsNormOp, emit: Emitter) -> Tensor:
        return _rms_normed(op, emit)[0]


class FusedRmsNorm(Decomposition[torch.FusedRmsNormOp]):
    """
    Decomposition of `_fused_rms_norm`: the result of `rms_norm`, and the factor
    `rsqrt(mean(input^2) + eps)`.
    """

    def decompose(self, op: torch.FusedRmsNormOp, emit: Emitter) -> list[Tensor]:
        result, rstd = _rms_normed(op, emit)
        return [result, rstd.reshape(op.statistics_shape())]


PATTERNS: Table = {
    torch.SoftmaxOp: Softmax(),
    torch.SoftmaxCoreOp: Softmax(),
    torch.SafeSoftmaxOp: SafeSoftmax(),
    torch.LogSoftmaxOp: LogSoftmax(),
    torch.LogSoftmaxCoreOp: LogSoftmax(),
    torch.RmsNormOp: RmsNorm(),
    torch.FusedRmsNormOp: FusedRmsNorm(),
    torch.LayerNormOp: LayerNorm(),
    torch.NativeLayerNormOp: NativeLayerNorm(),
}
