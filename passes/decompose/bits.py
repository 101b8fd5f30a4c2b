# SPDX-License-Identifier: Apache-2.0
"""
Decompositions of functions on bits.

    %1 = torch.bitwise_not %0 : (tensor<4x8xi32>) -> tensor<4x8xi32>

becomes

    %c = prim.constant -1 : i32 -> tensor<4x8xi32>
    %1 = prim.elementwise xor(%0, %c) : tensor<4x8xi32>

Narrow integers are shifted in 32 bits; the result is the same once the upper bits are dropped.
"""

from typing import cast

from xdsl.dialects.builtin import IntegerType, Signedness, i1

from tilewright.dialects import torch
from tilewright.dialects.prim import ScalarFunction
from tilewright.passes.decompose.binary import Computed, PairOp, as_tensor
from tilewright.passes.decompose.decomposition import Decomposition, Table
from tilewright.passes.decompose.elementwise import elementwise
from tilewright.passes.decompose.tensor import Emitter, Tensor
from tilewright.passes.decompose.unary import Unary


def _bitwise(function: ScalarFunction) -> Computed:
    return Computed(lambda input, other: elementwise(function, input, other))


def _inverted(x: Tensor) -> Tensor:
    return elementwise(ScalarFunction.XOR, x, 1 if x.element == i1 else -1)


class LeftShift(Decomposition[PairOp]):
    """
    Decomposition of left shifts: `input << other`, or 0 if `other` is negative or at least the
    width.
    """

    def decompose(self, op: PairOp, emit: Emitter) -> Tensor:
        input, other = as_tensor(emit, op.input), as_tensor(emit, op.other)
        width = _integer_type(emit).width.data
        possible = (other >= 0) & (other < width)
        shifted = elementwise(ScalarFunction.SHL, input, possible.where(other, 0))
        return possible.where(shifted, 0)


class RightShift(Decomposition[PairOp]):
    """
    Decomposition of right shifts: `input >> other`. If `other` is negative or at least the width,
    only copies of the sign bit remain, or 0.
    """

    def decompose(self, op: PairOp, emit: Emitter) -> Tensor:
        input, other = as_tensor(emit, op.input), as_tensor(emit, op.other)
        type = _integer_type(emit)
        is_signed = type.signedness.data is not Signedness.UNSIGNED
        furthest = type.width.data - is_signed
        possible = (other >= 0) & (other < furthest)
        return elementwise(ScalarFunction.SHR, input, possible.where(other, furthest))


def _integer_type(emit: Emitter) -> IntegerType:
    """Return the integer type that the operands are promoted to, before it is widened."""
    return cast(IntegerType, emit.common)


PATTERNS: Table = {
    torch.BitwiseNotOp: Unary(_inverted),
    torch.BitwiseAndOp: _bitwise(ScalarFunction.AND),
    torch.BitwiseAndScalarOp: _bitwise(ScalarFunction.AND),
    torch.ScalarBitwiseAndOp: _bitwise(ScalarFunction.AND),
    torch.BitwiseOrOp: _bitwise(ScalarFunction.OR),
    torch.BitwiseOrScalarOp: _bitwise(ScalarFunction.OR),
    torch.ScalarBitwiseOrOp: _bitwise(ScalarFunction.OR),
    torch.BitwiseXorOp: _bitwise(ScalarFunction.XOR),
    torch.BitwiseXorScalarOp: _bitwise(ScalarFunction.XOR),
    torch.ScalarBitwiseXorOp: _bitwise(ScalarFunction.XOR),
    torch.LeftShiftOp: LeftShift(),
    torch.LeftShiftScalarOp: LeftShift(),
    torch.ScalarLeftShiftOp: LeftShift(),
    torch.LshiftOp: LeftShift(),
    torch.LshiftScalarOp: LeftShift(),
    torch.RightShiftOp: RightShift(),
    torch.RightShiftScalarOp: RightShift(),
    torch.ScalarRightShiftOp: RightShift(),
    torch.RshiftOp: RightShift(),
    torch.RshiftScalarOp: RightShift(),
}
