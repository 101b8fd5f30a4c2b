# SPDX-License-Identifier: Apache-2.0
"""
Decompositions of quotients, rounded quotients and remainders.

    %2 = torch.div.Tensor_mode %0, %1 rounding_mode "trunc"
        : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>

becomes

    %q = prim.elementwise div(%0, %1) : tensor<4x8xf32>
    %2 = prim.elementwise trunc(%q) : tensor<4x8xf32>
"""

from collections.abc import Callable, Mapping

from tilewright.dialects import torch
from tilewright.dialects.element_types import FLOATS
from tilewright.dialects.prim import ScalarFunction
from tilewright.passes.decompose.binary import Argument, Binary, Computed, as_common
from tilewright.passes.decompose.decomposition import Decomposition, Table
from tilewright.passes.decompose.elementwise import elementwise
from tilewright.passes.decompose.tensor import Emitter, Tensor


def _truncated(input: Tensor, other: Argument) -> Tensor:
    """
    Return the quotient rounded towards 0. ATen first rounds it to a half type if it divides by a
    tensor.
    """
    quotient, emit = input / other, input.emit
    if not quotient.is_float:
        return quotient
    if isinstance(other, Tensor):
        quotient = quotient.cast(emit.common).cast(emit.type)
    return elementwise(ScalarFunction.TRUNC, quotient)


def _floored(input: Tensor, other: Argument) -> Tensor:
    return elementwise(ScalarFunction.FLOORDIV, input, other)


_ROUNDED: Mapping[str, Callable[[Tensor, Argument], Tensor]] = {
    "floor": _floored,
    "trunc": _truncated,
}


def _divisor(emit: Emitter, other: torch.SSAValue | torch.Scalar) -> Argument:
    """
    Return the divisor; a number wraps around in a narrow integer type, but is not rounded to a half
    type.
    """
    return emit(other) if emit.common in FLOATS else as_common(emit, other)


class RoundedDiv(Decomposition[torch.DivModeOp | torch.DivScalarModeOp]):
    """
    Decomposition of `div` with a rounding mode: `input / other`, rounded to an integer if a mode is
    given.
    """

    def decompose(self, op: torch.DivModeOp | torch.DivScalarModeOp, emit: Emitter) -> Tensor:
        input, other = emit(op.input), _divisor(emit, op.other)
        if op.rounding_mode is None:
            return input / other
        return _ROUNDED[op.rounding_mode.data](input, other)


class FloorDivide(Decomposition[torch.FloorDivideOp | torch.FloorDivideScalarOp]):
    """Decomposition of `floor_divide`: `input / other`, rounded down."""

    def decompose(
        self, op: torch.FloorDivideOp | torch.FloorDivideScalarOp, emit: Emitter
    ) -> Tensor:
        return _floored(emit(op.input), _divisor(emit, op.other))


def _fmod(input: Tensor, other: Tensor) -> Tensor:
    return elementwise(ScalarFunction.FMOD, input, other)


def _remainder(input: Tensor, other: Tensor) -> Tensor:
    """
    Return the remainder of `input / other` with the sign of `other`: the result of fmod, plus
    `other` if the signs are opposite.
    """
    rest = _fmod(input, other)
    opposite = rest.differs(0) & elementwise(ScalarFunction.XOR, rest < 0, other < 0)
    return opposite.where(rest + other, rest)


PATTERNS: Table = {
    torch.DivOp: Binary(ScalarFunction.DIV),
    torch.DivScalarOp: Binary(ScalarFunction.DIV),
    torch.DivModeOp: RoundedDiv(),
    torch.DivScalarModeOp: RoundedDiv(),
    torch.FloorDivideOp: FloorDivide(),
    torch.FloorDivideScalarOp: FloorDivide(),
    torch.RemainderOp: Computed(_remainder),
    torch.RemainderScalarOp: Computed(_remainder),
    torch.ScalarRemainderOp: Computed(_remainder),
    torch.FmodOp: Computed(_fmod),
    torch.FmodScalarOp: Computed(_fmod),
}
