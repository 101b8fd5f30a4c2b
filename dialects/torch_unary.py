# SPDX-License-Identifier: Apache-2.0
"""Torch ops that map every element of one tensor: arithmetic, exponentials, activations."""

from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.torch_op import TensorOp, tensor, text, torch_op
from tilewright.dialects.torch_promotion import promoted_to_float
from tilewright.dialects.torch_shapes import shape_of


class UnaryOp(TensorOp):
    """A function of each element."""

    input = tensor()

    def result_shape(self) -> tuple[int, ...]:
        return shape_of(self.input)


class FloatUnaryOp(UnaryOp):
    """A function of real numbers: of integers it gives floats."""

    def result_element(self) -> Attribute:
        return promoted_to_float(self.input)


@torch_op("neg")
class NegOp(UnaryOp):
    """
    -input.

        %1 = torch.neg %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("abs")
class AbsOp(UnaryOp):
    """
    The absolute value.

        %1 = torch.abs %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("reciprocal")
class ReciprocalOp(FloatUnaryOp):
    """
    1 / input.

        %1 = torch.reciprocal %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("exp")
class ExpOp(FloatUnaryOp):
    """
    e to the power of input.

        %1 = torch.exp %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("log")
class LogOp(FloatUnaryOp):
    """
    The natural logarithm.

        %1 = torch.log %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("sqrt")
class SqrtOp(FloatUnaryOp):
    """
    The square root.

        %1 = torch.sqrt %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("rsqrt")
class RsqrtOp(FloatUnaryOp):
    """
    1 / sqrt(input).

        %1 = torch.rsqrt %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("tanh")
class TanhOp(FloatUnaryOp):
    """
    The hyperbolic tangent.

        %1 = torch.tanh %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("erf")
class ErfOp(FloatUnaryOp):
    """
    The Gauss error function.

        %1 = torch.erf %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("sigmoid")
class SigmoidOp(FloatUnaryOp):
    """
    1 / (1 + exp(-input)).

        %1 = torch.sigmoid %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("relu")
class ReluOp(UnaryOp):
    """
    max(input, 0), NaN where input is NaN.

        %1 = torch.relu %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("silu")
class SiluOp(UnaryOp):
    """
    input * sigmoid(input).

        %1 = torch.silu %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("gelu")
class GeluOp(UnaryOp):
    """
    input * Phi(input), with the Gauss cdf by erf ("none") or approximated by "tanh".

        %1 = torch.gelu %0 approximate "tanh" : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """

    approximate = text("none")

    def result_shape(self) -> tuple[int, ...]:
        if self.approximate.data not in ("none", "tanh"):
            raise VerifyException(f'approximate is "none" or "tanh", not {self.approximate}')
        return super().result_shape()
