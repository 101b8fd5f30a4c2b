# SPDX-License-Identifier: Apache-2.0
"""
Decompositions of arithmetic on the elements of two operands.

    %2 = torch.add %0, %1 alpha 2 : (tensor<16x64xf32>, tensor<64xf32>) -> tensor<16x64xf32>

becomes

    %c = prim.constant 2.000000e+00 : f32 -> tensor<64xf32>
    %s = prim.elementwise mul(%1, %c) : tensor<64xf32>
    %b = prim.index_map %s by affine_map<(d0, d1) -> (d1)> : tensor<64xf32> -> tensor<16x64xf32>
    %2 = prim.elementwise add(%0, %b) : tensor<16x64xf32>
"""

from collections.abc import Callable, Mapping
from math import inf, nan

from xdsl.dialects.builtin import i1

from tilewright.dialects import torch
from tilewright.dialects.element_types import FLOATS, Number, compute_type
from tilewright.dialects.prim import ScalarFunction
from tilewright.dialects.types import element_of, shape_of
from tilewright.passes.decompose.decomposition import Decomposition, Table
from tilewright.passes.decompose.elementwise import elementwise
from tilewright.passes.decompose.tensor import Emitter, Tensor
from tilewright.passes.decompose.unary import is_negative

Argument = Tensor | Number
PairOp = torch.BinaryOp | torch.ScalarOp | torch.ScalarFirstOp

_ON_BOOLS: Mapping[ScalarFunction, ScalarFunction] = {
    ScalarFunction.ADD: ScalarFunction.OR,
    ScalarFunction.MUL: ScalarFunction.AND,
    ScalarFunction.MAXIMUM: ScalarFunction.OR,
    ScalarFunction.MINIMUM: ScalarFunction.AND,
}
"""Boolean function that computes each arithmetic function on 0 and 1."""


def arithmetic(function: ScalarFunction, input: Argument, other: Argument) -> Tensor:
    """Return `function` of two arguments; at least one is a tensor, which may hold bools."""
    tensors = [a for a in (input, other) if isinstance(a, Tensor)]
    on_bools = tensors[0].element == i1
    return elementwise(_ON_BOOLS[function] if on_bools else function, input, other)


class Binary(Decomposition[PairOp]):
    """
    Decomposition to one function: `function(input, other)`, where one argument may be a number.
    """

    def __init__(self, function: ScalarFunction):
        self.function = function

    def decompose(self, op: PairOp, emit: Emitter) -> Tensor:
        return arithmetic(self.function, emit(op.input), emit(op.other))


class Computed(Decomposition[PairOp]):
    """
    Decomposition by a Python function of `input` and `other`; a number becomes a tensor first.
    """

    def __init__(self, compute: Callable[[Tensor, Tensor], Tensor]):
        self.compute = compute

    def decompose(self, op: PairOp, emit: Emitter) -> Tensor:
        return self.compute(as_tensor(emit, op.input), as_tensor(emit, op.other))


def as_common(emit: Emitter, argument: torch.SSAValue | torch.Scalar) -> Argument:
    """
    Return an argument to compute with; a number is cast as tensors are. The number is then rounded
    to a half type, or wraps around in a narrow integer type. Products and quotients of half types
    take numbers without this cast; most other functions need it.
    """
    value = emit(argument)
    if isinstance(value, Tensor) or emit.common == emit.type:
        return value
    return emit.constant(value, (), emit.common).cast(emit.type)


def as_tensor(emit: Emitter, argument: torch.SSAValue | torch.Scalar) -> Tensor:
    """
    Return an argument as `as_common` does, but turn a number into a tensor of the result's shape.
    """
    value = as_common(emit, argument)
    if isinstance(value, Tensor):
        return value
    return emit.constant(value, shape_of(emit.op.results[0]))


ScaledOp = torch.AddOp | torch.AddScalarOp | torch.SubOp | torch.SubScalarOp


class Scaled(Decomposition[ScaledOp]):
    """Decomposition of `add` and `sub`: `input + alpha * other` or `input - alpha * other`."""

    def __init__(self, function: ScalarFunction):
        self.function = function

    def decompose(self, op: ScaledOp, emit: Emitter) -> Tensor:
        other = _scaled(emit, op.other, op.alpha)
        return arithmetic(self.function, emit(op.input), other)


class Rsub(Decomposition[torch.RsubOp | torch.RsubScalarOp]):
    """Decomposition of `rsub`: `other - alpha * input`."""

    def decompose(self, op: torch.RsubOp | torch.RsubScalarOp, emit: Emitter) -> Tensor:
        input = _scaled(emit, op.input, op.alpha)
        return elementwise(ScalarFunction.SUB, as_common(emit, op.other), input)


def _scaled(emit: Emitter, value: torch.SSAValue | torch.Scalar, factor: torch.Scalar) -> Argument:
    """Return `value * factor`, without a multiplication if the factor is 1."""
    argument = as_common(emit, value)
    if emit(factor) == 1:
        return argument
    scale = as_common(emit, factor)
    if isinstance(argument, Tensor) or isinstance(scale, Tensor):
        return arithmetic(ScalarFunction.MUL, argument, scale)
    return argument * scale


class Ldexp(Decomposition[torch.LdexpOp]):
    """
    Decomposition of `ldexp`: `input * 2^other`; the power is rounded to the type of `other` if that
    is a float type.
    """

    def decompose(self, op: torch.LdexpOp, emit: Emitter) -> Tensor:
        type = element_of(op.other)
        if type not in FLOATS:
            return emit(op.input) * elementwise(ScalarFunction.EXP2, emit(op.other))
        exponent = emit.stored(op.other).cast(compute_type(type))
        power = elementwise(ScalarFunction.EXP2, exponent).cast(type)
        return emit(op.input) * power.cast(emit.common).cast(emit.type)


def fmax(input: Tensor, other: Tensor) -> Tensor:
    """Return the larger of both, or the other one if one is NaN."""
    return _numbers_first(input, other, arithmetic(ScalarFunction.MAXIMUM, input, other))


def fmin(input: Tensor, other: Tensor) -> Tensor:
    """Return the smaller of both, or the other one if one is NaN."""
    return _numbers_first(input, other, arithmetic(ScalarFunction.MINIMUM, input, other))


def _numbers_first(input: Tensor, other: Tensor, both: Tensor) -> Tensor:
    if not both.is_float:
        return both
    return input.is_nan().where(other, other.is_nan().where(input, both))


def hypot(input: Tensor, other: Tensor) -> Tensor:
    """
    Return `sqrt(input^2 + other^2)`, computed as `long * sqrt(1 + (short / long)^2)`: intermediate
    results do not overflow unless the result does. The result is infinite if one argument is, even
    if the other is NaN.
    """
    input, other = input.abs(), other.abs()
    long, short = input.maximum(other), input.minimum(other)
    ratio = short / long
    length = long * (ratio * ratio + 1.0).sqrt()
    infinite = input.equals(inf) | other.equals(inf)
    return infinite.where(inf, long.equals(0.0).where(0.0, length))


def copysign(input: Tensor, other: Tensor) -> Tensor:
    """Return the absolute value of `input` with the sign of `other`."""
    size = input.abs()
    return is_negative(other).where(-size, size)


def xlogy(input: Tensor, other: Tensor) -> Tensor:
    """Return `input * log(other)`; 0 where `input` is 0, but NaN where `other` is NaN."""
    product = input.equals(0.0).where(0.0, input * other.log())
    return other.is_nan().where(nan, product)


PATTERNS: Table = {
    torch.AddOp: Scaled(ScalarFunction.ADD),
    torch.AddScalarOp: Scaled(ScalarFunction.ADD),
    torch.SubOp: Scaled(ScalarFunction.SUB),
    torch.SubScalarOp: Scaled(ScalarFunction.SUB),
    torch.RsubOp: Rsub(),
    torch.RsubScalarOp: Rsub(),
    torch.MulOp: Binary(ScalarFunction.MUL),
    torch.MulScalarOp: Binary(ScalarFunction.MUL),
    torch.MaximumOp: Binary(ScalarFunction.MAXIMUM),
    torch.MinimumOp: Binary(ScalarFunction.MINIMUM),
    torch.FmaxOp: Computed(fmax),
    torch.FminOp: Computed(fmin),
    torch.Atan2Op: Binary(ScalarFunction.ATAN2),
    torch.HypotOp: Computed(hypot),
    torch.CopysignOp: Computed(copysign),
    torch.CopysignScalarOp: Computed(copysign),
    torch.XlogyOp: Computed(xlogy),
    torch.XlogyScalarOp: Computed(xlogy),
    torch.ScalarXlogyOp: Computed(xlogy),
    torch.LdexpOp: Ldexp(),
}
