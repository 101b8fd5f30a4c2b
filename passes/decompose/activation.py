# SPDX-License-Identifier: Apache-2.0
"""
Decompositions of activation functions.

    %1 = torch.silu %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>

becomes

    %n = prim.elementwise neg(%0) : tensor<4x8xf32>
    %e = prim.elementwise exp(%n) : tensor<4x8xf32>
    %c = prim.constant 1.000000e+00 : f32 -> tensor<4x8xf32>
    %d = prim.elementwise add(%c, %e) : tensor<4x8xf32>
    %1 = prim.elementwise div(%0, %d) : tensor<4x8xf32>
"""

from collections.abc import Callable, Mapping
from math import pi, sqrt

from tilewright.dialects import torch
from tilewright.dialects.element_types import Number
from tilewright.dialects.prim import ScalarFunction
from tilewright.passes.decompose.binary import as_tensor
from tilewright.passes.decompose.decomposition import Decomposition, Table
from tilewright.passes.decompose.elementwise import elementwise, scaled
from tilewright.passes.decompose.tensor import Emitter, Tensor
from tilewright.passes.decompose.unary import Unary


def sigmoid(x: Tensor) -> Tensor:
    """Return `1 / (1 + exp(-x))`; where exp overflows, the quotient is 0, which is right."""
    return 1.0 / (1.0 + (-x).exp())


def _silu(x: Tensor) -> Tensor:
    """Return `x * sigmoid(x)` as one quotient."""
    return x / (1.0 + (-x).exp())


def softplus(x: Tensor) -> Tensor:
    """
    Return `log(1 + exp(x))` without overflow of exp, and without loss of terms that are small
    beside 1.
    """
    rest = elementwise(ScalarFunction.LOG1P, (-x.abs()).exp())
    return x.maximum(0.0) + rest


def log_sigmoid(x: Tensor) -> Tensor:
    """Return `log(sigmoid(x))`."""
    return -softplus(-x)


def _mish(x: Tensor) -> Tensor:
    return x * elementwise(ScalarFunction.TANH, softplus(x))


def _clamped(x: Tensor, low: Number, high: Number) -> Tensor:
    return x.maximum(low).minimum(high)


# --- Gelu ------------------------------------------------------------------------------------


def _cdf_by_erf(x: Tensor) -> Tensor:
    """Return twice the cumulative distribution function (CDF) of the normal distribution."""
    return 1.0 + elementwise(ScalarFunction.ERF, x * sqrt(0.5))


def _cdf_by_tanh(x: Tensor) -> Tensor:
    """Return twice the CDF of the normal distribution, approximated by tanh."""
    argument = (x + x * x * x * 0.044715) * sqrt(2 / pi)
    return 1.0 + elementwise(ScalarFunction.TANH, argument)


_TWICE_CDF: Mapping[str, Callable[[Tensor], Tensor]] = {
    "none": _cdf_by_erf,
    "tanh": _cdf_by_tanh,
}


class Gelu(Decomposition[torch.GeluOp]):
    """
    Decomposition of `gelu`: `input * cdf(input)`. The CDF is `(1 + erf(input / sqrt(2))) / 2`, or
    its approximation by tanh.
    """

    def decompose(self, op: torch.GeluOp, emit: Emitter) -> Tensor:
        input = emit(op.input)
        return input * 0.5 * _TWICE_CDF[op.approximate.data](input)


# --- Pieces ----------------------------------------------------------------------------------


class Hardtanh(Decomposition[torch.HardtanhOp]):
    """Decomposition of `hardtanh`: `min(max(input, min_val), max_val)`."""

    def decompose(self, op: torch.HardtanhOp, emit: Emitter) -> Tensor:
        low, high = as_tensor(emit, op.min_val), as_tensor(emit, op.max_val)
        return emit(op.input).maximum(low).minimum(high)


class Threshold(Decomposition[torch.ThresholdOp]):
    """
    Decomposition of `threshold`: `value` where `input <= threshold`, else `input`; NaN stays NaN.
    """

    def decompose(self, op: torch.ThresholdOp, emit: Emitter) -> Tensor:
        input, value = emit(op.input), as_tensor(emit, op.value)
        return (input <= as_tensor(emit, op.threshold)).where(value, input)


def _leaky(x: Tensor, slope: Tensor | Number) -> Tensor:
    """Return `x` where it is positive, else `slope * x`."""
    return (x > 0.0).where(x, x * slope)


class LeakyRelu(Decomposition[torch.LeakyReluOp]):
    """
    Decomposition of `leaky_relu`: `input` where it is positive, else `negative_slope * input`.
    """

    def decompose(self, op: torch.LeakyReluOp, emit: Emitter) -> Tensor:
        return _leaky(emit(op.input), emit(op.negative_slope))


class Rrelu(Decomposition[torch.RreluOp]):
    """
    Decomposition of `rrelu`: `input` where it is positive, else `input` times the mean of `lower`
    and `upper`.
    """

    def decompose(self, op: torch.RreluOp, emit: Emitter) -> Tensor:
        return _leaky(emit(op.input), (emit(op.lower) + emit(op.upper)) / 2)


class Prelu(Decomposition[torch.PreluOp]):
    """
    Decomposition of `prelu`: `input` where it is positive, else `weight * input`, with one weight
    for all elements or one for each position of dimension 1.
    """

    def decompose(self, op: torch.PreluOp, emit: Emitter) -> Tensor:
        input, weight = emit(op.input), emit(op.weight)
        if weight.shape in ((), (1,)):
            return _leaky(input, weight.reshape(()))
        return _leaky(input, weight.unsqueeze(range(1, input.rank - 1)))


class Hardshrink(Decomposition[torch.HardshrinkOp]):
    """Decomposition of `hardshrink`: 0 where `|input| <= lambd`, else `input`; NaN stays NaN."""

    def decompose(self, op: torch.HardshrinkOp, emit: Emitter) -> Tensor:
        input, lambd = emit(op.input), as_tensor(emit, op.lambd)
        return ((input >= -lambd) & (input <= lambd)).where(0.0, input)


class Softshrink(Decomposition[torch.SoftshrinkOp]):
    """
    Decomposition of `softshrink`: `input - lambd` above `lambd`, `input + lambd` below `-lambd`,
    else 0; NaN stays NaN.
    """

    def decompose(self, op: torch.SoftshrinkOp, emit: Emitter) -> Tensor:
        input, lambd = emit(op.input), emit(op.lambd)
        within = (input < -lambd).where(input + lambd, input * 0.0)
        return (input > lambd).where(input - lambd, within)


def _elu(x: Tensor, alpha: Number, scale: Number = 1, input_scale: Number = 1) -> Tensor:
    below = scaled(elementwise(ScalarFunction.EXPM1, scaled(x, input_scale)), alpha * scale)
    return (x <= 0.0).where(below, scaled(x, scale))


class Elu(Decomposition[torch.EluOp]):
    """
    Decomposition of `elu`: `scale * input` where it is positive, else `scale * alpha *
    expm1(input_scale * input)`.
    """

    def decompose(self, op: torch.EluOp, emit: Emitter) -> Tensor:
        return _elu(emit(op.input), emit(op.alpha), emit(op.scale), emit(op.input_scale))


class Celu(Decomposition[torch.CeluOp]):
    """
    Decomposition of `celu`: `input` where it is positive, else `alpha * expm1(input / alpha)`.
    """

    def decompose(self, op: torch.CeluOp, emit: Emitter) -> Tensor:
        return _elu(emit(op.input), emit(op.alpha), input_scale=1.0 / emit(op.alpha))


_SELU_ALPHA = 1.6732632423543772848170429916717
_SELU_SCALE = 1.0507009873554804934193349852946


class Softplus(Decomposition[torch.SoftplusOp]):
    """
    Decomposition of `softplus`: `log(1 + exp(beta * input)) / beta`, or `input` where `beta *
    input` is above the threshold.
    """

    def decompose(self, op: torch.SoftplusOp, emit: Emitter) -> Tensor:
        input, beta = emit(op.input), emit(op.beta)
        steep = scaled(input, beta)
        smooth = softplus(steep) if beta == 1 else softplus(steep) / beta
        return (steep > emit(op.threshold)).where(input, smooth)


class Glu(Decomposition[torch.GluOp]):
    """
    Decomposition of `glu`: the first half of a dimension times the sigmoid of the second half.
    """

    def decompose(self, op: torch.GluOp, emit: Emitter) -> Tensor:
        input = emit(op.input)
        dim = torch.wrap_dim(op.dim.value.data, input.rank)
        size = input.shape[dim] // 2
        return input.slice(dim, 0, size) * sigmoid(input.slice(dim, size, size))


PATTERNS: Table = {
    torch.SigmoidOp: Unary(sigmoid),
    torch.ReluOp: Unary(lambda x: x.maximum(0)),
    torch.Relu6Op: Unary(lambda x: _clamped(x, 0, 6)),
    torch.HardtanhOp: Hardtanh(),
    torch.ThresholdOp: Threshold(),
    torch.LeakyReluOp: LeakyRelu(),
    torch.RreluOp: Rrelu(),
    torch.PreluOp: Prelu(),
    torch.HardshrinkOp: Hardshrink(),
    torch.SoftshrinkOp: Softshrink(),
    torch.HardsigmoidOp: Unary(lambda x: _clamped(x + 3.0, 0.0, 6.0) / 6.0),
    torch.HardswishOp: Unary(lambda x: x * _clamped(x + 3.0, 0.0, 6.0) / 6.0),
    torch.EluOp: Elu(),
    torch.SeluOp: Unary(lambda x: _elu(x, _SELU_ALPHA, _SELU_SCALE)),
    torch.CeluOp: Celu(),
    torch.GeluOp: Gelu(),
    torch.SiluOp: Unary(_silu),
    torch.MishOp: Unary(_mish),
    torch.SoftplusOp: Softplus(),
    torch.LogSigmoidOp: Unary(log_sigmoid),
    torch.GluOp: Glu(),
}
