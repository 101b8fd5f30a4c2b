# SPDX-License-Identifier: Apache-2.0
"""
Decompositions of selection, clamping, linear interpolation and fused products.

    %1 = torch.clamp %0 min 0 max 6 : (tensor<4x8xf32>) -> tensor<4x8xf32>

becomes

    %a = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
    %b = prim.elementwise maximum(%0, %a) : tensor<4x8xf32>
    %c = prim.constant 6.000000e+00 : f32 -> tensor<4x8xf32>
    %1 = prim.elementwise minimum(%b, %c) : tensor<4x8xf32>
"""

from tilewright.dialects import torch
from tilewright.dialects.prim import ScalarFunction
from tilewright.passes.decompose.binary import arithmetic, as_tensor
from tilewright.passes.decompose.decomposition import Decomposition, Table
from tilewright.passes.decompose.tensor import Emitter, Tensor


class Where(Decomposition[torch.SelectionOp]):
    """Decomposition of `where`: one of two values, by a condition."""

    def decompose(self, op: torch.SelectionOp, emit: Emitter) -> Tensor:
        then, otherwise = (as_tensor(emit, choice) for choice in op.choices())
        return emit.stored(op.condition).where(then, otherwise)


class MaskedFill(Decomposition[torch.MaskedFillOp | torch.MaskedFillTensorOp]):
    """Decomposition of `masked_fill`: `value` where the mask is true, else `input`."""

    def decompose(self, op: torch.MaskedFillOp | torch.MaskedFillTensorOp, emit: Emitter) -> Tensor:
        return emit.stored(op.mask).where(as_tensor(emit, op.value), emit(op.input))


class Clamp(Decomposition[torch.ClampLikeOp]):
    """Decomposition of `clamp`: `min(max(input, low), high)`; either bound may be missing."""

    def decompose(self, op: torch.ClampLikeOp, emit: Emitter) -> Tensor:
        clamped, (low, high) = emit(op.operands[0]), op.bounds()
        if low is not None:
            clamped = arithmetic(ScalarFunction.MAXIMUM, clamped, as_tensor(emit, low))
        if high is not None:
            clamped = arithmetic(ScalarFunction.MINIMUM, clamped, as_tensor(emit, high))
        return clamped


class Lerp(Decomposition[torch.LerpOp | torch.LerpScalarOp]):
    """
    Decomposition of `lerp`: `input + weight * (end - input)`, computed from `end` if the absolute
    weight is at least 0.5. A weight of 1 therefore gives `end` exactly.
    """

    def decompose(self, op: torch.LerpOp | torch.LerpScalarOp, emit: Emitter) -> Tensor:
        input, end, weight = emit(op.input), emit(op.end), emit(op.weight)
        distance = end - input
        from_input, from_end = input + distance * weight, end - distance * (1.0 - weight)
        if isinstance(weight, Tensor):
            return (weight.abs() < 0.5).where(from_input, from_end)
        return from_input if abs(weight) < 0.5 else from_end


class Addcmul(Decomposition[torch.AddcmulOp]):
    """Decomposition of `addcmul`: `input + value * tensor1 * tensor2`."""

    def decompose(self, op: torch.AddcmulOp, emit: Emitter) -> Tensor:
        return emit(op.input) + _times(emit, op) * emit(op.tensor2)


class Addcdiv(Decomposition[torch.AddcdivOp]):
    """Decomposition of `addcdiv`: `input + value * tensor1 / tensor2`."""

    def decompose(self, op: torch.AddcdivOp, emit: Emitter) -> Tensor:
        return emit(op.input) + _times(emit, op) / emit(op.tensor2)


def _times(emit: Emitter, op: torch.FusedOp) -> Tensor:
    """Return `value * tensor1`, without a multiplication if `value` is 1."""
    value, tensor1 = emit(op.value), emit(op.tensor1)
    return tensor1 if value == 1 else tensor1 * value


PATTERNS: Table = {
    **dict.fromkeys(
        (
            torch.WhereOp,
            torch.WhereScalarSelfOp,
            torch.WhereScalarOtherOp,
            torch.WhereScalarOp,
        ),
        Where(),
    ),
    **dict.fromkeys((torch.MaskedFillOp, torch.MaskedFillTensorOp), MaskedFill()),
    **dict.fromkeys(
        (
            torch.ClampOp,
            torch.ClampTensorOp,
            torch.ClampMinOp,
            torch.ClampMinTensorOp,
            torch.ClampMaxOp,
            torch.ClampMaxTensorOp,
        ),
        Clamp(),
    ),
    torch.LerpScalarOp: Lerp(),
    torch.LerpOp: Lerp(),
    torch.AddcmulOp: Addcmul(),
    torch.AddcdivOp: Addcdiv(),
}
