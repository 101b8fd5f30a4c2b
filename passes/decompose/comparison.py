# SPDX-License-Identifier: Apache-2.0
"""
Decompositions of comparisons, predicates and logical functions, whose results are bools.

    %1 = torch.isinf %0 : (tensor<4x8xf32>) -> tensor<4x8xi1>

becomes

    %a = prim.elementwise abs(%0) : tensor<4x8xf32>
    %c = prim.constant 0x7F800000 : f32 -> tensor<4x8xf32>
    %1 = prim.elementwise eq(%a, %c) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
"""

from collections.abc import Callable
from math import inf

from xdsl.dialects.builtin import i1

from tilewright.dialects import torch
from tilewright.dialects.element_types import compute_type
from tilewright.dialects.prim import ScalarFunction
from tilewright.passes.decompose.binary import as_tensor
from tilewright.passes.decompose.decomposition import Decomposition, Table
from tilewright.passes.decompose.elementwise import elementwise
from tilewright.passes.decompose.tensor import Emitter, Tensor
from tilewright.passes.decompose.unary import Unary, is_negative


class Comparison(Decomposition[torch.BinaryOp | torch.ScalarOp]):
    """
    Decomposition of a comparison: `function(input, other)` in the type that both are promoted to.
    """

    def __init__(self, function: ScalarFunction):
        self.function = function

    def decompose(self, op: torch.BinaryOp | torch.ScalarOp, emit: Emitter) -> Tensor:
        return elementwise(self.function, emit(op.input), as_tensor(emit, op.other))


class Logical(Decomposition[torch.LogicalOp]):
    """
    Decomposition of a logical function. The truth of each operand is taken in its own type: 1e-30
    is true, even beside an f16.
    """

    def __init__(self, function: ScalarFunction):
        self.function = function

    def decompose(self, op: torch.LogicalOp, emit: Emitter) -> Tensor:
        return elementwise(self.function, _truth(emit, op.input), _truth(emit, op.other))


def _truth(emit: Emitter, value: torch.SSAValue) -> Tensor:
    tensor = emit.stored(value)
    return tensor.cast(compute_type(tensor.element)).is_true()


def _on_floats(holds: Callable[[Tensor], Tensor], of_integers: bool = False) -> Unary:
    """
    Return the decomposition of a predicate `holds` on floats; for integers the result is always
    `of_integers`.
    """
    return Unary(
        lambda x: holds(x) if x.is_float else x.emit.constant(int(of_integers), x.shape, i1)
    )


PATTERNS: Table = {
    torch.EqOp: Comparison(ScalarFunction.EQ),
    torch.EqScalarOp: Comparison(ScalarFunction.EQ),
    torch.NeOp: Comparison(ScalarFunction.NE),
    torch.NeScalarOp: Comparison(ScalarFunction.NE),
    torch.LtOp: Comparison(ScalarFunction.LT),
    torch.LtScalarOp: Comparison(ScalarFunction.LT),
    torch.LeOp: Comparison(ScalarFunction.LE),
    torch.LeScalarOp: Comparison(ScalarFunction.LE),
    torch.GtOp: Comparison(ScalarFunction.GT),
    torch.GtScalarOp: Comparison(ScalarFunction.GT),
    torch.GeOp: Comparison(ScalarFunction.GE),
    torch.GeScalarOp: Comparison(ScalarFunction.GE),
    torch.IsnanOp: _on_floats(Tensor.is_nan),
    torch.IsinfOp: _on_floats(lambda x: x.abs().equals(inf)),
    torch.IsfiniteOp: _on_floats(lambda x: x.abs() < inf, of_integers=True),
    torch.IsposinfOp: _on_floats(lambda x: x.equals(inf)),
    torch.IsneginfOp: _on_floats(lambda x: x.equals(-inf)),
    torch.SignbitOp: Unary(is_negative),
    torch.LogicalNotOp: Unary(lambda x: x.is_true().logical_not()),
    torch.LogicalAndOp: Logical(ScalarFunction.AND),
    torch.LogicalOrOp: Logical(ScalarFunction.OR),
    torch.LogicalXorOp: Logical(ScalarFunction.XOR),
}
