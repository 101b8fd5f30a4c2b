# SPDX-License-Identifier: Apache-2.0
"""Torch ops that are activation functions of neural networks."""

from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.torch.elementwise import (
    NumberUnaryOp,
    RealUnaryOp,
    check_fits,
)
from tilewright.dialects.torch.op import (
    boolean,
    integer,
    number,
    opt_text,
    tensor,
    text,
    torch_op,
)
from tilewright.dialects.torch.shapes import shown, wrap_dim
from tilewright.dialects.types import element_of, shape_of

# --- Piecewise linear ------------------------------------------------------------------------


@torch_op("relu")
class ReluOp(NumberUnaryOp):
    """
    max(input, 0), NaN where input is NaN.

        %1 = torch.relu %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("relu6")
class Relu6Op(NumberUnaryOp):
    """
    min(max(input, 0), 6).

        %1 = torch.relu6 %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("hardtanh")
class HardtanhOp(NumberUnaryOp):
    """
    min(max(input, min_val), max_val).

        %1 = torch.hardtanh %0 min_val 0 max_val 6 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """

    min_val = number(-1)
    max_val = number(1)

    def result_shape(self) -> tuple[int, ...]:
        check_fits(self.min_val, self.common_element(), "min_val")
        check_fits(self.max_val, self.common_element(), "max_val")
        return super().result_shape()


@torch_op("threshold")
class ThresholdOp(NumberUnaryOp):
    """
    input where it is above threshold, else value.

        %1 = torch.threshold %0 threshold 0.1 value 20 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """

    threshold = number()
    value = number()

    def result_shape(self) -> tuple[int, ...]:
        check_fits(self.threshold, self.common_element(), "threshold")
        check_fits(self.value, self.common_element(), "value")
        return super().result_shape()


@torch_op("leaky_relu")
class LeakyReluOp(RealUnaryOp):
    """
    input where it is positive, else negative_slope * input.

        %1 = torch.leaky_relu %0 negative_slope 0.1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """

    negative_slope = number(0.01)


@torch_op("rrelu")
class RreluOp(RealUnaryOp):
    """
    A leaky relu whose slope is random in training, and the mean of lower and upper in inference.

        %1 = torch.rrelu %0 lower 0.1 upper 0.3 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """

    lower = number(0.125)
    upper = number(1 / 3)
    training = boolean(False)
    generator = opt_text()

    def result_shape(self) -> tuple[int, ...]:
        if self.training.value.data:
            raise VerifyException("rrelu is random in training: call eval() on the module")
        return super().result_shape()


@torch_op("prelu")
class PreluOp(RealUnaryOp):
    """
    input where it is positive, else weight * input; weight has one element, or one for each
    channel.

        %2 = torch.prelu %0, %1 : (tensor<2x3x8xf32>, tensor<3xf32>) -> tensor<2x3x8xf32>
    """

    weight = tensor()

    def channels(self) -> int:
        """Return the number of channels: the size of dimension 1, or 1 without it."""
        shape = shape_of(self.input)
        return shape[1] if len(shape) > 1 else 1

    def result_shape(self) -> tuple[int, ...]:
        shape, weight = shape_of(self.input), shape_of(self.weight)
        if weight not in ((), (1,), (self.channels(),)):
            raise VerifyException(
                f"weight has one element or {self.channels()}, not shape {shown(weight)}"
            )
        if element_of(self.weight) != element_of(self.input):
            raise VerifyException("input and weight are of one type: convert one")
        return shape


@torch_op("hardshrink")
class HardshrinkOp(RealUnaryOp):
    """
    0 where input is from -lambd to lambd, else input.

        %1 = torch.hardshrink %0 lambd 0.3 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """

    lambd = number(0.5)


@torch_op("softshrink")
class SoftshrinkOp(RealUnaryOp):
    """
    input moved toward 0 by lambd, but not past 0.

        %1 = torch.softshrink %0 lambd 0.3 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """

    lambd = number(0.5)

    def result_shape(self) -> tuple[int, ...]:
        if not float(self.lambd.value.data) >= 0:
            raise VerifyException(f"lambd must be at least 0, not {self.lambd.value.data}")
        return super().result_shape()


@torch_op("hardsigmoid")
class HardsigmoidOp(RealUnaryOp):
    """
    min(max(input + 3, 0), 6) / 6.

        %1 = torch.hardsigmoid %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("hardswish")
class HardswishOp(RealUnaryOp):
    """
    input * hardsigmoid(input).

        %1 = torch.hardswish %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


# --- Smooth ----------------------------------------------------------------------------------


@torch_op("elu")
class EluOp(RealUnaryOp):
    """
    scale * input where it is positive, else scale * alpha * (exp(input_scale * input) - 1).

        %1 = torch.elu %0 alpha 0.5 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """

    alpha = number(1)
    scale = number(1)
    input_scale = number(1)


@torch_op("selu")
class SeluOp(RealUnaryOp):
    """
    An elu with alpha and scale chosen to preserve mean 0 and variance 1.

        %1 = torch.selu %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("celu")
class CeluOp(RealUnaryOp):
    """
    input where it is positive, else alpha * (exp(input / alpha) - 1).

        %1 = torch.celu %0 alpha 0.5 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """

    alpha = number(1.0)

    def result_shape(self) -> tuple[int, ...]:
        if not self.alpha.value.data:
            raise VerifyException("alpha must not be 0: celu divides by it")
        return super().result_shape()


@torch_op("gelu")
class GeluOp(RealUnaryOp):
    """
    input * Phi(input), Phi the Gaussian cdf: by erf ("none"), or its approximation by "tanh".

        %1 = torch.gelu %0 approximate "tanh" : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """

    approximate = text("none")

    def result_shape(self) -> tuple[int, ...]:
        if self.approximate.data not in ("none", "tanh"):
            raise VerifyException(f'approximate is "none" or "tanh", not {self.approximate}')
        return super().result_shape()


@torch_op("silu")
class SiluOp(RealUnaryOp):
    """
    input * sigmoid(input).

        %1 = torch.silu %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("mish")
class MishOp(RealUnaryOp):
    """
    input * tanh(softplus(input)).

        %1 = torch.mish %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("softplus")
class SoftplusOp(RealUnaryOp):
    """
    log(1 + exp(beta * input)) / beta; input itself where beta * input is above threshold.

        %1 = torch.softplus %0 beta 2 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """

    beta = number(1)
    threshold = number(20)


@torch_op("log_sigmoid")
class LogSigmoidOp(RealUnaryOp):
    """
    log(sigmoid(input)).

        %1 = torch.log_sigmoid %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("glu")
class GluOp(RealUnaryOp):
    """
    The first half of input along dim times the sigmoid of the second half.

        %1 = torch.glu %0 dim 0 : (tensor<4x8xf32>) -> tensor<2x8xf32>
    """

    dim = integer(-1)

    def result_shape(self) -> tuple[int, ...]:
        shape = shape_of(self.input)
        if not shape:
            raise VerifyException("glu halves a dimension, but the input has none")
        dim = wrap_dim(self.dim.value.data, len(shape))
        if shape[dim] % 2:
            raise VerifyException(f"glu halves dimension {dim}, but its size {shape[dim]} is odd")
        return (*shape[:dim], shape[dim] // 2, *shape[dim + 1 :])
