# SPDX-License-Identifier: Apache-2.0
"""
Quotients, rounded ones, and what they leave.

    %2 = torch.div.Tensor_mode %0, %1 rounding_mode "trunc"
        : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>

becomes

    %q = prim.elementwise div(%0, %1) : tensor<4x8xf32>
    %2 = prim.elementwise trunc(%q) : tensor<4x8xf32>
"""

from collections.abc import Callable, Mapping

from tilewright.dialects import torch
from tilewright.dialects.prim import ScalarFunction
from tilewright.passes.decompose.decomposition import Decomposition, Table
from tilewright.passes.decompose.pointwise import Binary, Computed, as_tensor
from tilewright.passes.decompose.tensor import Emitter, Tensor, elementwise


def _truncated(input: Tensor, other: Tensor) -> Tensor:
    quotient = input / other
    return elementwise(ScalarFunction.TRUNC, quotient) if quotient.is_float else quotient


def _floored(input: Tensor, other: Tensor) -> Tensor:
    return elementwise(ScalarFunction.FLOORDIV, input, other)


_ROUNDED: Mapping[str, Callable[[Tensor, Tensor], Tensor]] = {
    "floor": _floored,
    "trunc": _truncated,
}


class RoundedDiv(Decomposition[torch.DivModeOp | torch.DivScalarModeOp]):
    """input / other, perhaps rounded to an integer."""

    def decompose(self, op: torch.DivModeOp | torch.DivScalarModeOp, emit: Emitter) -> Tensor:
        input, other = emit(op.input), as_tensor(emit, op.other)
        if op.rounding_mode is None:
            return input / other
        return _ROUNDED[op.rounding_mode.data](input, other)


def _fmod(input: Tensor, other: Tensor) -> Tensor:
    return elementwise(ScalarFunction.FMOD, input, other)


def _remainder(input: Tensor, other: Tensor) -> Tensor:
    """
    What is left of input after whole multiples of other, with the sign of other: what fmod leaves,
    and another multiple if that is on the other side of 0.
    """
    rest = _fmod(input, other)
    opposite = rest.differs(0) & elementwise(ScalarFunction.XOR, rest < 0, other < 0)
    return opposite.where(rest + other, rest)


PATTERNS: Table = {
    torch.DivOp: Binary(ScalarFunction.DIV),
    torch.DivScalarOp: Binary(ScalarFunction.DIV),
    torch.DivModeOp: RoundedDiv(),
    torch.DivScalarModeOp: RoundedDiv(),
    torch.FloorDivideOp: Computed(_floored),
    torch.FloorDivideScalarOp: Computed(_floored),
    torch.RemainderOp: Computed(_remainder),
    torch.RemainderScalarOp: Computed(_remainder),
    torch.ScalarRemainderOp: Computed(_remainder),
    torch.FmodOp: Computed(_fmod),
    torch.FmodScalarOp: Computed(_fmod),
}
