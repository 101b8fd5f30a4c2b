# SPDX-License-Identifier: Apache-2.0
"""
Decompositions of cross entropy and `nll_loss`: losses of scores, by target class or by class
probabilities.

    %2 = torch.nll_loss_nd %0, %1 reduction 2 : (tensor<4x8xf32>, tensor<4xi64>) -> tensor<f32>

becomes, if -100 is the target to ignore,

    %m = prim.constant -100 : i64 -> tensor<4xi64>
    %u = prim.elementwise ne(%1, %m) : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi1>
    %z = prim.constant 0 : i64 -> tensor<4xi64>
    %t = prim.elementwise select(%u, %1, %z) : (...) -> tensor<4xi64>
    %g = prim.gather %0[d0, %t] : (tensor<4x8xf32>, tensor<4xi64>) -> tensor<4xf32>
    %n = prim.elementwise neg(%g) : tensor<4xf32>
    %f = prim.constant 0.000000e+00 : f32 -> tensor<4xf32>
    %l = prim.elementwise select(%u, %n, %f) : (...) -> tensor<4xf32>
    %2 = prim.reduce add(%l) dims [0] : (tensor<4xf32>) -> tensor<f32>
"""

from dataclasses import dataclass

from xdsl.dialects.builtin import i64
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import torch
from tilewright.passes.decompose.decomposition import Decomposition, Table
from tilewright.passes.decompose.loss import reduced
from tilewright.passes.decompose.subscripts import gather
from tilewright.passes.decompose.tensor import Emitter, Tensor


@dataclass(frozen=True)
class _Targets:
    """Target classes, one for each loss."""

    classes: Tensor
    """Target class; 0 for an ignored target."""
    used: Tensor
    """True for targets that are not ignored."""
    weights: Tensor
    """Weight of the target class; 0 for an ignored target."""


def _targets(op: torch.ClassLossOp, emit: Emitter) -> _Targets:
    target = emit.stored(op.target).cast(i64)
    used = target.differs(op.ignore_index.value.data)
    classes = used.where(target, 0)
    if op.weight is None:
        return _Targets(classes, used, used.cast(emit.type))
    weights = gather(emit(op.weight), [classes], classes.shape)
    return _Targets(classes, used, used.where(weights, 0.0))


def _nll(op: torch.ClassLossOp, scores: Tensor, targets: _Targets) -> Tensor:
    """Return `-weight * score` for the target class of each loss; 0 for ignored targets."""
    shape, dim = targets.classes.shape, op.class_dim()
    axes: list[Tensor | AffineExpr] = [AffineExpr.dimension(axis) for axis in range(len(shape))]
    axes.insert(dim, targets.classes)
    losses = -gather(scores, axes, shape)
    if op.weight is not None:
        losses *= targets.weights
    return targets.used.where(losses, 0.0)


def _reduced(losses: Tensor, total: Tensor, reduction: int) -> Tensor:
    """
    Return all losses, their sum, or their sum divided by the sum of `total`, as `reduction`
    selects.
    """
    if reduction == torch.NONE:
        return losses
    dims = range(losses.rank)
    total_loss = losses.sum(dims)
    return total_loss / total.sum(range(total.rank)) if reduction == torch.MEAN else total_loss


class NllLoss(Decomposition[torch.NllLossOp]):
    """Decomposition of `nll_loss`: `-input[target]`, weighted by class."""

    def decompose(self, op: torch.NllLossOp, emit: Emitter) -> Tensor:
        targets = _targets(op, emit)
        losses = _nll(op, emit(op.input), targets)
        return _reduced(losses, targets.weights, op.reduction.value.data)


class CrossEntropy(Decomposition[torch.CrossEntropyLossOp]):
    """
    Decomposition of `cross_entropy_loss`: `-log_softmax(input)[target]`, or the product of
    `-log_softmax(input)` and class probabilities.
    """

    def decompose(self, op: torch.CrossEntropyLossOp, emit: Emitter) -> Tensor:
        scores = _log_softmax(emit(op.input), op.class_dim())
        if op.has_probabilities():
            return self._by_probabilities(op, emit, scores)
        return self._by_classes(op, emit, scores)

    def _by_classes(self, op: torch.CrossEntropyLossOp, emit: Emitter, scores: Tensor) -> Tensor:
        """
        Return the loss by target class. Label smoothing gives every class, the target class too, a
        part of the target's weight.
        """
        targets, smoothing = _targets(op, emit), op.label_smoothing.value.data
        reduction = op.reduction.value.data
        loss = _reduced(_nll(op, scores, targets), targets.weights, reduction)
        if smoothing == 0:
            return loss
        dim = op.class_dim()
        spread = -_weighted(op, emit, scores).sum([dim])
        spread = _reduced(targets.used.where(spread, 0.0), targets.weights, reduction)
        return loss * (1.0 - smoothing) + spread * (smoothing / scores.shape[dim])

    def _by_probabilities(
        self, op: torch.CrossEntropyLossOp, emit: Emitter, scores: Tensor
    ) -> Tensor:
        """
        Return the loss by class probabilities; a mean is over all targets, regardless of their
        weights.
        """
        dim, smoothing = op.class_dim(), op.label_smoothing.value.data
        target = emit(op.target)
        if smoothing:
            target = target * (1.0 - smoothing) + smoothing / scores.shape[dim]
        losses = -(_weighted(op, emit, scores) * target).sum([dim])
        return reduced(losses, op.reduction.value.data)


def _log_softmax(x: Tensor, dim: int) -> Tensor:
    shifted = x - x.max([dim]).unsqueeze([dim])
    return shifted - shifted.exp().sum([dim]).log().unsqueeze([dim])


def _weighted(op: torch.ClassLossOp, emit: Emitter, scores: Tensor) -> Tensor:
    """Return each score times the weight of its class."""
    if op.weight is None:
        return scores
    dim = op.class_dim()
    others = [axis for axis in range(scores.rank) if axis != dim]
    return scores * emit(op.weight).unsqueeze(others)


PATTERNS: Table = {
    torch.NllLossOp: NllLoss(),
    torch.CrossEntropyLossOp: CrossEntropy(),
}
