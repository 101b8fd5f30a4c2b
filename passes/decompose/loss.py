# SPDX-License-Identifier: Apache-2.0
"""
Decompositions of losses.

    %2 = torch.mse_loss %0, %1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<f32>

becomes

    %d = prim.elementwise sub(%0, %1) : tensor<4x8xf32>
    %q = prim.elementwise mul(%d, %d) : tensor<4x8xf32>
    %s = prim.reduce add(%q) dims [0, 1] : (tensor<4x8xf32>) -> tensor<f32>
    %n = prim.constant 3.200000e+01 : f32 -> tensor<f32>
    %2 = prim.elementwise div(%s, %n) : tensor<f32>
"""

from abc import abstractmethod
from typing import Generic, TypeVar

from tilewright.dialects import torch
from tilewright.dialects.prim import ScalarFunction
from tilewright.dialects.torch.shapes import broadcast
from tilewright.dialects.types import shape_of
from tilewright.passes.decompose.activation import log_sigmoid
from tilewright.passes.decompose.binary import xlogy
from tilewright.passes.decompose.decomposition import Decomposition, Table
from tilewright.passes.decompose.elementwise import elementwise
from tilewright.passes.decompose.tensor import Emitter, Tensor

_LossT = TypeVar("_LossT", bound=torch.PairLossOp)


class PairLoss(Decomposition[_LossT], Generic[_LossT]):
    """Decomposition of a loss that is computed for each pair of elements and then reduced."""

    @abstractmethod
    def losses(self, op: _LossT, emit: Emitter) -> Tensor:
        """Return the loss of each pair."""

    def decompose(self, op: _LossT, emit: Emitter) -> Tensor:
        losses = self.losses(op, emit)
        losses = losses.broadcast(broadcast(*map(shape_of, op.operands)))
        return reduced(losses, op.reduction.value.data)


def reduced(losses: Tensor, reduction: int) -> Tensor:
    """Return all losses, their mean or their sum, as `reduction` selects."""
    if reduction == torch.NONE:
        return losses
    dims = range(losses.rank)
    return losses.mean(dims) if reduction == torch.MEAN else losses.sum(dims)


class MseLoss(PairLoss[torch.MseLossOp]):
    """Decomposition of `mse_loss`: `(input - target)^2`."""

    def losses(self, op: torch.MseLossOp, emit: Emitter) -> Tensor:
        distance = emit(op.input) - emit(op.target)
        return distance * distance


class L1Loss(PairLoss[torch.L1LossOp]):
    """Decomposition of `l1_loss`: `|input - target|`."""

    def losses(self, op: torch.L1LossOp, emit: Emitter) -> Tensor:
        return (emit(op.input) - emit(op.target)).abs()


class SmoothL1Loss(PairLoss[torch.SmoothL1LossOp]):
    """
    Decomposition of `smooth_l1_loss`: `distance - beta / 2`, or `distance^2 / (2 * beta)` below
    `beta`, where the distance is `|input - target|`.
    """

    def losses(self, op: torch.SmoothL1LossOp, emit: Emitter) -> Tensor:
        distance, beta = (emit(op.input) - emit(op.target)).abs(), emit(op.beta)
        if beta == 0:
            return distance
        parabola = 0.5 * distance * distance / beta
        return (distance < beta).where(parabola, distance - 0.5 * beta)


class HuberLoss(PairLoss[torch.HuberLossOp]):
    """
    Decomposition of `huber_loss`: `delta * (distance - delta / 2)`, or `distance^2 / 2` up to
    `delta`, where the distance is `|input - target|`.
    """

    def losses(self, op: torch.HuberLossOp, emit: Emitter) -> Tensor:
        distance, delta = (emit(op.input) - emit(op.target)).abs(), emit(op.delta)
        parabola = 0.5 * distance * distance
        return (distance <= delta).where(parabola, delta * (distance - 0.5 * delta))


class KlDiv(PairLoss[torch.KlDivOp]):
    """
    Decomposition of `kl_div`: `target * (log(target) - input)`, where `0 * log(0)` is 0. With
    `log_target`, the target is given as its logarithm.
    """

    def losses(self, op: torch.KlDivOp, emit: Emitter) -> Tensor:
        input, target = emit(op.input), emit(op.target)
        if emit(op.log_target):
            return target.exp() * (target - input)
        return xlogy(target, target) - target * input


class BinaryCrossEntropy(PairLoss[torch.BinaryCrossEntropyOp]):
    """
    Decomposition of `binary_cross_entropy`: `-(target * log(input) + (1 - target) * log(1 -
    input))`. Logarithms are at least -100, so that the loss is finite at 0 and 1.
    """

    def losses(self, op: torch.BinaryCrossEntropyOp, emit: Emitter) -> Tensor:
        input, target = emit(op.input), emit(op.target)
        positive = input.log().maximum(-100.0)
        negative = elementwise(ScalarFunction.LOG1P, -input).maximum(-100.0)
        losses = (target - 1.0) * negative - target * positive
        return losses if op.weight is None else losses * emit(op.weight)


class BinaryCrossEntropyWithLogits(PairLoss[torch.BinaryCrossEntropyWithLogitsOp]):
    """
    Decomposition of `binary_cross_entropy_with_logits`: `(1 - target) * input - (1 + (pos_weight -
    1) * target) * log_sigmoid(input)`.
    """

    def losses(self, op: torch.BinaryCrossEntropyWithLogitsOp, emit: Emitter) -> Tensor:
        input, target = emit(op.input), emit(op.target)
        logarithm = log_sigmoid(input)
        if op.pos_weight is not None:
            logarithm = ((emit(op.pos_weight) - 1.0) * target + 1.0) * logarithm
        losses = (1.0 - target) * input - logarithm
        return losses if op.weight is None else losses * emit(op.weight)


class CosineSimilarity(Decomposition[torch.CosineSimilarityOp]):
    """
    Decomposition of `cosine_similarity`: the product of two vectors that are scaled to length 1, or
    to less if they are shorter than `eps`.
    """

    def decompose(self, op: torch.CosineSimilarityOp, emit: Emitter) -> Tensor:
        dims = op.reduced_dims()
        shape = broadcast(*map(shape_of, op.operands))
        x1, x2 = (emit(x).broadcast(shape) for x in op.operands)
        eps = emit(op.eps)
        lengths = [(x * x).sum(dims).sqrt().maximum(eps).unsqueeze(dims) for x in (x1, x2)]
        return (x1 / lengths[0] * (x2 / lengths[1])).sum(dims)


PATTERNS: Table = {
    torch.MseLossOp: MseLoss(),
    torch.L1LossOp: L1Loss(),
    torch.SmoothL1LossOp: SmoothL1Loss(),
    torch.HuberLossOp: HuberLoss(),
    torch.KlDivOp: KlDiv(),
    torch.BinaryCrossEntropyOp: BinaryCrossEntropy(),
    torch.BinaryCrossEntropyWithLogitsOp: BinaryCrossEntropyWithLogits(),
    torch.CosineSimilarityOp: CosineSimilarity(),
}
