# SPDX-License-Identifier: Apache-2.0
"""
Decompositions that create tensors from numbers, and conversions.

    %0 = torch.arange.start_step start 2 end 8 step 3 dtype f32 : () -> tensor<2xf32>

becomes

    %0 = prim.iota affine_map<(d0) -> (((d0 * 3) + 2))> : tensor<2xi64>
    %1 = prim.elementwise cast(%0) : (tensor<2xi64>) -> tensor<2xf32>
"""

from xdsl.dialects.builtin import FloatAttr, IntegerType, bf16, f16, f32, f64
from xdsl.ir import Attribute

from tilewright.dialects import torch
from tilewright.dialects.element_types import FLOATS, Number, number_attribute
from tilewright.passes.decompose.decomposition import Decomposition, Table
from tilewright.passes.decompose.slicing import equal
from tilewright.passes.decompose.tensor import Emitter, Tensor
from tilewright.passes.decompose.view import axes_of

FullOp = torch.FullOfSizeOp | torch.FullLikeAnotherOp | torch.NewOp


class Constant(Decomposition[FullOp]):
    """
    Decomposition to a tensor with one number in all elements. Uninitialised tensors are filled with
    0, which is as good as any number.
    """

    def __init__(self, number: Number):
        self.number = number

    def decompose(self, op: FullOp, emit: Emitter) -> Tensor:
        return emit.constant(self.number, op.shape())


class Full(Decomposition[torch.FullOp | torch.FullLikeOp | torch.NewFullOp]):
    """Decomposition of `full` and its variants: `fill_value` in all elements."""

    def decompose(
        self, op: torch.FullOp | torch.FullLikeOp | torch.NewFullOp, emit: Emitter
    ) -> Tensor:
        return emit.constant(emit(op.fill_value), op.shape())


class ScalarTensor(Decomposition[torch.ScalarTensorOp]):
    """Decomposition of `scalar_tensor`: the number `s` as a tensor without dimensions."""

    def decompose(self, op: torch.ScalarTensorOp, emit: Emitter) -> Tensor:
        return emit.constant(emit(op.s), ())


class FillScalar(Decomposition[torch.FillScalarOp]):
    """Decomposition of `fill` by a number: `value` in all elements."""

    def decompose(self, op: torch.FillScalarOp, emit: Emitter) -> Tensor:
        return emit.constant(emit(op.value), op.result_shape())


class Fill(Decomposition[torch.FillOp]):
    """Decomposition of `fill` by a tensor: the only element of `value` in all elements."""

    def decompose(self, op: torch.FillOp, emit: Emitter) -> Tensor:
        return emit.stored(op.value).cast(emit.common).broadcast(op.result_shape())


class Arange(Decomposition[torch.RangeOp]):
    """
    Decomposition of `arange`: `start + i * step`. Fractions are computed in f64, or in f32 for half
    types. Eager PyTorch also rounds the first element of every vector of elements, and the length
    of vectors depends on the processor.
    """

    def decompose(self, op: torch.RangeOp, emit: Emitter) -> Tensor:
        shape, (start, _, step) = op.shape(), op.numbers()
        (axis,) = axes_of(1)
        if float(start).is_integer() and float(step).is_integer():
            return emit.positions(axis * int(step) + int(start), shape).cast(emit.common)
        wide = f32 if emit.common != emit.type else f64
        return start + emit.iota(shape, 0).cast(wide) * step


class Linspace(Decomposition[torch.LinspaceOp]):
    """
    Decomposition of `linspace`: `start + i * step` in the first half, `end - (steps - 1 - i) *
    step` in the second, so that both ends are exact. The step has the type of the result, as in
    eager PyTorch. Half types are rounded at each operation, and float32 once. Integers are computed
    in f64 and truncated.
    """

    def decompose(self, op: torch.LinspaceOp, emit: Emitter) -> Tensor:
        (steps,), last = op.shape(), op.steps.value.data - 1
        is_half = emit.common in (f16, bf16)
        type = emit.common if emit.common in FLOATS else f64

        def rounded(tensor: Tensor) -> Tensor:
            return tensor.cast(type).cast(f32) if is_half else tensor.cast(f64)

        start, end = (_rounded(emit(bound), emit.common) for bound in (op.start, op.end))
        if steps < 2:
            return emit.constant(start, (steps,))
        step = _rounded(_rounded(end - start, type) / _rounded(last, type), type)
        (axis,) = axes_of(1)
        done = rounded(emit.positions(axis, (steps,)))
        left = rounded(emit.positions(axis * -1 + last, (steps,)))
        is_first_half = emit.predicate([axis * -1 + (steps // 2 - 1)], (steps,))
        return is_first_half.where(start + rounded(done * step), end - rounded(left * step))


def _rounded(value: Number, type: Attribute) -> Number:
    """Return a number rounded to `type`, or truncated to an integer."""
    if isinstance(type, IntegerType):
        return int(value)
    attribute = number_attribute(value, type)
    assert isinstance(attribute, FloatAttr)
    return attribute.value.data


class Eye(Decomposition[torch.EyeOp | torch.EyeMOp]):
    """Decomposition of `eye`: 1 where row and column are equal, else 0."""

    def decompose(self, op: torch.EyeOp | torch.EyeMOp, emit: Emitter) -> Tensor:
        row, column = axes_of(2)
        return emit.predicate(equal(row, column), op.shape())


class ToCopy(Decomposition[torch.ToCopyOp]):
    """Decomposition of `_to_copy`: a cast."""

    def decompose(self, op: torch.ToCopyOp, emit: Emitter) -> Tensor:
        return emit.stored(op.input).cast(emit.common)


PATTERNS: Table = {
    torch.FullOp: Full(),
    torch.FullLikeOp: Full(),
    torch.NewFullOp: Full(),
    torch.ZerosOp: Constant(0),
    torch.ZerosLikeOp: Constant(0),
    torch.NewZerosOp: Constant(0),
    torch.OnesOp: Constant(1),
    torch.OnesLikeOp: Constant(1),
    torch.NewOnesOp: Constant(1),
    torch.EmptyOp: Constant(0),
    torch.EmptyLikeOp: Constant(0),
    torch.NewEmptyOp: Constant(0),
    torch.ScalarTensorOp: ScalarTensor(),
    torch.FillScalarOp: FillScalar(),
    torch.FillOp: Fill(),
    torch.ArangeOp: Arange(),
    torch.ArangeStartOp: Arange(),
    torch.ArangeStepOp: Arange(),
    torch.LinspaceOp: Linspace(),
    torch.EyeOp: Eye(),
    torch.EyeMOp: Eye(),
    torch.ToCopyOp: ToCopy(),
}
