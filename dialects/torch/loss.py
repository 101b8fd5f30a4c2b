# SPDX-License-Identifier: Apache-2.0
"""Torch ops that are loss functions: they measure how far two tensors are apart."""

from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, IntegerType, i64
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.element_types import FLOATS, ui8
from tilewright.dialects.torch.elementwise import REALS, Domain, ElementwiseOp
from tilewright.dialects.torch.op import (
    TensorOp,
    boolean,
    integer,
    opt_tensor,
    real,
    tensor,
    torch_op,
)
from tilewright.dialects.torch.shapes import broadcast, shown, wrap_dim
from tilewright.dialects.types import element_of, shape_of

NONE, MEAN, SUM = 0, 1, 2
"""Values of `reduction`: each loss by itself, their mean, or their sum."""


def reduced_shape(shape: tuple[int, ...], reduction: IntegerAttr[IntegerType]) -> tuple[int, ...]:
    """Return `shape`, or () if the losses are reduced to their mean or sum."""
    if (kind := reduction.value.data) not in (NONE, MEAN, SUM):
        raise VerifyException(f"reduction is 0 (none), 1 (mean) or 2 (sum), not {kind}")
    return shape if kind == NONE else ()


# --- Elementwise -----------------------------------------------------------------------------


class PairLossOp(ElementwiseOp):
    """Base class of elementwise losses; the result is each loss, their mean or their sum."""

    DOMAIN: ClassVar[Domain] = REALS

    input = tensor()
    target = tensor()
    reduction = integer(MEAN)

    def result_shape(self) -> tuple[int, ...]:
        return reduced_shape(super().result_shape(), self.reduction)


@torch_op("mse_loss")
class MseLossOp(PairLossOp):
    """
    (input - target)^2, by default the mean.

        %2 = torch.mse_loss %0, %1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<f32>
    """


@torch_op("l1_loss")
class L1LossOp(PairLossOp):
    """
    |input - target|, by default the mean.

        %2 = torch.l1_loss %0, %1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<f32>
    """


@torch_op("smooth_l1_loss")
class SmoothL1LossOp(PairLossOp):
    """
    |input - target| - beta / 2; where |input - target| < beta, (input - target)^2 / (2 * beta).

        %2 = torch.smooth_l1_loss %0, %1 beta 0.5
            : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<f32>
    """

    beta = real(1.0)

    def result_shape(self) -> tuple[int, ...]:
        if not self.beta.value.data >= 0:
            raise VerifyException(f"beta must be at least 0, not {self.beta.value.data}")
        return super().result_shape()


@torch_op("huber_loss")
class HuberLossOp(PairLossOp):
    """
    delta * (|input - target| - delta / 2); where |input - target| < delta, (input - target)^2 / 2.

        %2 = torch.huber_loss %0, %1 delta 0.5 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<f32>
    """

    delta = real(1.0)

    def result_shape(self) -> tuple[int, ...]:
        if not self.delta.value.data > 0:
            raise VerifyException(f"delta must be above 0, not {self.delta.value.data}")
        return super().result_shape()


@torch_op("kl_div")
class KlDivOp(PairLossOp):
    """
    target * (log(target) - input); with log_target, target already holds log(target).

        %2 = torch.kl_div %0, %1 log_target true
            : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<f32>
    """

    log_target = boolean(False)


class BinaryCrossEntropyLikeOp(PairLossOp):
    """
    Base class of losses of probabilities, or of logits, against probabilities of the same shape.
    """

    def result_shape(self) -> tuple[int, ...]:
        input, target = shape_of(self.input), shape_of(self.target)
        if input != target:
            raise VerifyException(
                f"input and target have one shape, not {shown(input)} and {shown(target)}"
            )
        return super().result_shape()


@torch_op("binary_cross_entropy")
class BinaryCrossEntropyOp(BinaryCrossEntropyLikeOp):
    """
    -(target * log(input) + (1 - target) * log(1 - input)); logarithms are clamped to at least -100.

        %3 = torch.binary_cross_entropy %0, %1 weight %2
            : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>) -> tensor<f32>
    """

    weight = opt_tensor()


@torch_op("binary_cross_entropy_with_logits")
class BinaryCrossEntropyWithLogitsOp(BinaryCrossEntropyLikeOp):
    """
    binary_cross_entropy of sigmoid(input), with the term of target multiplied by pos_weight.

        %3 = torch.binary_cross_entropy_with_logits %0, %1 pos_weight %2
            : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>) -> tensor<f32>
    """

    weight = opt_tensor()
    pos_weight = opt_tensor()


# --- Along a dimension -----------------------------------------------------------------------


@torch_op("cosine_similarity")
class CosineSimilarityOp(ElementwiseOp):
    """
    The cosine of the angle between vectors along dim; each norm is clamped to at least eps.

        %2 = torch.cosine_similarity %0, %1 dim -1
            : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4xf32>
    """

    DOMAIN: ClassVar[Domain] = REALS

    x1 = tensor()
    x2 = tensor()
    dim = integer(1)
    eps = real(1e-8)

    def reduced_dims(self) -> tuple[int, ...]:
        """
        Return the dimension of the broadcast operands along which the vectors lie; () for scalars.
        """
        rank = len(broadcast(*map(shape_of, self.operands)))
        dim = wrap_dim(self.dim.value.data, rank)
        return (dim,) if rank else ()

    def result_shape(self) -> tuple[int, ...]:
        shape, dims = super().result_shape(), self.reduced_dims()
        return tuple(size for dim, size in enumerate(shape) if dim not in dims)


class ClassLossOp(TensorOp):
    """Base class of losses of scores for classes, along dimension 1, or dimension 0 of a vector."""

    input = tensor()
    target = tensor()
    weight = opt_tensor()
    reduction = integer(MEAN)
    ignore_index = integer(-100)

    def result_element(self) -> Attribute:
        return element_of(self.input)

    def class_dim(self) -> int:
        """Return the dimension of the classes."""
        return min(len(shape_of(self.input)) - 1, 1)

    def loss_shape(self) -> tuple[int, ...]:
        """
        Return the shape of the losses before they are reduced: the input's without the dimension of
        the classes.
        """
        shape, dim = shape_of(self.input), self.class_dim()
        return (*shape[:dim], *shape[dim + 1 :])

    def check_scores(self) -> None:
        """
        Raise `VerifyException` unless scores are floats, and weight has one element of their type
        for each class.
        """
        if (element := element_of(self.input)) not in FLOATS:
            raise VerifyException(f"{self.name} works on floats, not on {element}: convert input")
        if not (shape := shape_of(self.input)):
            raise VerifyException("input has a dimension for the classes, but it is a scalar")
        if self.weight is None:
            return
        if shape_of(self.weight) != (shape[self.class_dim()],):
            raise VerifyException(
                f"weight has one element for each class, {shape[self.class_dim()]}, "
                f"not shape {shown(shape_of(self.weight))}"
            )
        if element_of(self.weight) != element:
            raise VerifyException(f"weight is of {element_of(self.weight)}, input of {element}")

    def check_classes(self) -> None:
        """Raise `VerifyException` unless target holds one class, an i64 or ui8, for each loss."""
        if (element := element_of(self.target)) not in (i64, ui8):
            raise VerifyException(f"target holds classes as int64 or uint8, not {element}")
        if (shape := shape_of(self.target)) != self.loss_shape():
            raise VerifyException(
                f"target has shape {shown(shape)}, but input of shape "
                f"{shown(shape_of(self.input))} has losses of shape {shown(self.loss_shape())}"
            )


@torch_op("nll_loss_nd")
class NllLossOp(ClassLossOp):
    """
    -weight[target] * input[target]; 0 where target is ignore_index.

    A mean divides by the sum of the weights of all targets except ignore_index.

        %2 = torch.nll_loss_nd %0, %1 : (tensor<4x8xf32>, tensor<4xi64>) -> tensor<f32>
    """

    def result_shape(self) -> tuple[int, ...]:
        self.check_scores()
        self.check_classes()
        return reduced_shape(self.loss_shape(), self.reduction)


@torch_op("cross_entropy_loss")
class CrossEntropyLossOp(ClassLossOp):
    """
    nll_loss_nd of log_softmax(input); target may also hold a probability for each class.

        %2 = torch.cross_entropy_loss %0, %1 label_smoothing 0.1
            : (tensor<4x8x16xf32>, tensor<4x16xi64>) -> tensor<f32>
    """

    label_smoothing = real(0.0)

    def has_probabilities(self) -> bool:
        """True if target holds probabilities, which means that it has the input's shape."""
        return shape_of(self.target) == shape_of(self.input)

    def result_shape(self) -> tuple[int, ...]:
        self.check_scores()
        if not 0 <= self.label_smoothing.value.data <= 1:
            raise VerifyException(
                f"label_smoothing is from 0 to 1, not {self.label_smoothing.value.data}"
            )
        if self.has_probabilities():
            self._check_probabilities()
        else:
            self.check_classes()
        return reduced_shape(self.loss_shape(), self.reduction)

    def _check_probabilities(self) -> None:
        if (element := element_of(self.target)) != element_of(self.input):
            raise VerifyException(f"target holds probabilities of the input's type, not {element}")
        if self.ignore_index.value.data >= 0:
            raise VerifyException("ignore_index names a class, but target holds probabilities")
