# SPDX-License-Identifier: Apache-2.0
"""
Arithmetic on every element.

    %2 = torch.add %0, %1 alpha 2 : (tensor<16x64xf32>, tensor<64xf32>) -> tensor<16x64xf32>

becomes

    %c = prim.constant 2.000000e+00 : f32 -> tensor<64xf32>
    %s = prim.elementwise mul(%1, %c) : tensor<64xf32>
    %b = prim.index_map %s by affine_map<(d0, d1) -> (d1)> : tensor<64xf32> -> tensor<16x64xf32>
    %2 = prim.elementwise add(%0, %b) : tensor<16x64xf32>
"""

from collections.abc import Callable

from tilewright.dialects import torch
from tilewright.dialects.prim import ScalarFunction
from tilewright.passes.decompose.decomposition import Decomposition, Table
from tilewright.passes.decompose.tensor import Emitter, Number, Tensor, elementwise, scaled

Argument = Tensor | Number


class Unary(Decomposition[torch.UnaryOp]):
    """function(input)"""

    def __init__(self, function: ScalarFunction):
        self.function = function

    def decompose(self, op: torch.UnaryOp, emit: Emitter) -> Tensor:
        return elementwise(self.function, emit(op.input))


class Binary(Decomposition[torch.BinaryOp | torch.ScalarOp]):
    """function(input, other), where other may be a number."""

    def __init__(self, function: ScalarFunction):
        self.function = function

    def decompose(self, op: torch.BinaryOp | torch.ScalarOp, emit: Emitter) -> Tensor:
        return elementwise(self.function, emit(op.input), emit(op.other))


class Reciprocal(Decomposition[torch.ReciprocalOp]):
    """1 / input"""

    def decompose(self, op: torch.ReciprocalOp, emit: Emitter) -> Tensor:
        return 1.0 / emit(op.input)


ScaledOp = torch.AddOp | torch.AddScalarOp | torch.SubOp | torch.SubScalarOp


class Scaled(Decomposition[ScaledOp]):
    """input + alpha * other, or a difference."""

    def __init__(self, function: ScalarFunction):
        self.function = function

    def decompose(self, op: ScaledOp, emit: Emitter) -> Tensor:
        other = scaled(emit(op.other), emit(op.alpha))
        return elementwise(self.function, emit(op.input), other)


class Rsub(Decomposition[torch.RsubOp | torch.RsubScalarOp]):
    """other - alpha * input"""

    def decompose(self, op: torch.RsubOp | torch.RsubScalarOp, emit: Emitter) -> Tensor:
        input = scaled(emit(op.input), emit(op.alpha))
        return elementwise(ScalarFunction.SUB, emit(op.other), input)


def _truncated(input: Tensor, other: Argument) -> Tensor:
    return elementwise(ScalarFunction.TRUNC, input / other)


def _floored(input: Tensor, other: Argument) -> Tensor:
    return elementwise(ScalarFunction.FLOORDIV, input, other)


_ROUNDED: dict[str, Callable[[Tensor, Argument], Tensor]] = {
    "floor": _floored,
    "trunc": _truncated,
}


class RoundedDiv(Decomposition[torch.DivModeOp | torch.DivScalarModeOp]):
    """input / other, perhaps rounded to an integer."""

    def decompose(self, op: torch.DivModeOp | torch.DivScalarModeOp, emit: Emitter) -> Tensor:
        input, other = emit(op.input), emit(op.other)
        if op.rounding_mode is None:
            return input / other
        return _ROUNDED[op.rounding_mode.data](input, other)


PATTERNS: Table = {
    torch.NegOp: Unary(ScalarFunction.NEG),
    torch.AbsOp: Unary(ScalarFunction.ABS),
    torch.ReciprocalOp: Reciprocal(),
    torch.ExpOp: Unary(ScalarFunction.EXP),
    torch.LogOp: Unary(ScalarFunction.LOG),
    torch.SqrtOp: Unary(ScalarFunction.SQRT),
    torch.RsqrtOp: Unary(ScalarFunction.RSQRT),
    torch.TanhOp: Unary(ScalarFunction.TANH),
    torch.ErfOp: Unary(ScalarFunction.ERF),
    torch.AddOp: Scaled(ScalarFunction.ADD),
    torch.AddScalarOp: Scaled(ScalarFunction.ADD),
    torch.SubOp: Scaled(ScalarFunction.SUB),
    torch.SubScalarOp: Scaled(ScalarFunction.SUB),
    torch.RsubOp: Rsub(),
    torch.RsubScalarOp: Rsub(),
    torch.MulOp: Binary(ScalarFunction.MUL),
    torch.MulScalarOp: Binary(ScalarFunction.MUL),
    torch.DivOp: Binary(ScalarFunction.DIV),
    torch.DivScalarOp: Binary(ScalarFunction.DIV),
    torch.DivModeOp: RoundedDiv(),
    torch.DivScalarModeOp: RoundedDiv(),
    torch.MaximumOp: Binary(ScalarFunction.MAXIMUM),
    torch.MinimumOp: Binary(ScalarFunction.MINIMUM),
}
