# SPDX-License-Identifier: Apache-2.0
"""
Activations.

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
from tilewright.dialects.prim import ScalarFunction
from tilewright.passes.decompose.decomposition import Decomposition, Table
from tilewright.passes.decompose.tensor import Emitter, Tensor, elementwise


class Sigmoid(Decomposition[torch.SigmoidOp]):
    """1 / (1 + exp(-input)). Where exp overflows the quotient is 0, which is right."""

    def decompose(self, op: torch.SigmoidOp, emit: Emitter) -> Tensor:
        return 1.0 / (1.0 + (-emit(op.input)).exp())


class Relu(Decomposition[torch.ReluOp]):
    """max(input, 0), where NaN stays NaN."""

    def decompose(self, op: torch.ReluOp, emit: Emitter) -> Tensor:
        return elementwise(ScalarFunction.MAXIMUM, emit(op.input), 0.0)


class Silu(Decomposition[torch.SiluOp]):
    """input * sigmoid(input), as one quotient."""

    def decompose(self, op: torch.SiluOp, emit: Emitter) -> Tensor:
        input = emit(op.input)
        return input / (1.0 + (-input).exp())


def _cdf_by_erf(x: Tensor) -> Tensor:
    """Twice the Gauss cdf."""
    return 1.0 + elementwise(ScalarFunction.ERF, x * sqrt(0.5))


def _cdf_by_tanh(x: Tensor) -> Tensor:
    """Nearly twice the Gauss cdf."""
    argument = (x + x * x * x * 0.044715) * sqrt(2 / pi)
    return 1.0 + elementwise(ScalarFunction.TANH, argument)


_TWICE_CDF: Mapping[str, Callable[[Tensor], Tensor]] = {
    "none": _cdf_by_erf,
    "tanh": _cdf_by_tanh,
}


class Gelu(Decomposition[torch.GeluOp]):
    """input * cdf(input), where the cdf is (1 + erf(input / sqrt(2))) / 2 or near it."""

    def decompose(self, op: torch.GeluOp, emit: Emitter) -> Tensor:
        input = emit(op.input)
        return input * 0.5 * _TWICE_CDF[op.approximate.data](input)


PATTERNS: Table = {
    torch.SigmoidOp: Sigmoid(),
    torch.ReluOp: Relu(),
    torch.SiluOp: Silu(),
    torch.GeluOp: Gelu(),
}
