# SPDX-License-Identifier: Apache-2.0
"""
Sums, means and extremes.

    %1 = torch.mean.dim %0 dim [-1] keepdim true : (tensor<4x8xf32>) -> tensor<4x1xf32>

becomes

    %s = prim.reduce add(%0) dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
    %n = prim.constant 8.000000e+00 : f32 -> tensor<4xf32>
    %m = prim.elementwise div(%s, %n) : tensor<4xf32>
    %1 = prim.index_map %m by affine_map<(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x1xf32>
"""

from collections.abc import Callable, Sequence

from tilewright.dialects import torch
from tilewright.dialects.monoid import Monoid
from tilewright.passes.decompose.decomposition import Decomposition, Table
from tilewright.passes.decompose.tensor import Emitter, Tensor

Reduce = Callable[[Tensor, Sequence[int]], Tensor]


class FullReduction(Decomposition[torch.FullReductionOp]):
    """reduce(input)"""

    def __init__(self, reduce: Reduce):
        self.reduce = reduce

    def decompose(self, op: torch.FullReductionOp, emit: Emitter) -> Tensor:
        input = emit(op.input)
        return self.reduce(input, range(len(input.shape)))


class Reduction(Decomposition[torch.SumLikeOp | torch.ExtremeOp]):
    """reduce(input, dim), where the reduced dimensions may stay with size 1."""

    def __init__(self, reduce: Reduce):
        self.reduce = reduce

    def decompose(self, op: torch.SumLikeOp | torch.ExtremeOp, emit: Emitter) -> Tensor:
        input = emit(op.input)
        reduced = self.reduce(input, torch.reduced_dims(input.shape, op.dim))
        return reduced.reshape(op.result_shape())


def _largest(input: Tensor, dims: Sequence[int]) -> Tensor:
    return input.reduce(Monoid.MAX, dims)


def _smallest(input: Tensor, dims: Sequence[int]) -> Tensor:
    return input.reduce(Monoid.MIN, dims)


PATTERNS: Table = {
    torch.SumOp: FullReduction(Tensor.sum),
    torch.SumDimOp: Reduction(Tensor.sum),
    torch.MeanOp: FullReduction(Tensor.mean),
    torch.MeanDimOp: Reduction(Tensor.mean),
    torch.AmaxOp: Reduction(_largest),
    torch.AminOp: Reduction(_smallest),
}
