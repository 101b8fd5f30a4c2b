# SPDX-License-Identifier: Apache-2.0
"""
Arithmetic on every element of two operands.

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
"""What arithmetic is where there are only 0 and 1."""


def arithmetic(function: ScalarFunction, input: Argument, other: Argument) -> Tensor:
    """`function` of two, at least one of them a tensor, which may be of bools."""
    tensors = [a for a in (input, other) if isinstance(a, Tensor)]
    on_bools = tensors[0].element == i1
    return elementwise(_ON_BOOLS[function] if on_bools else function, input, other)


class Binary(Decomposition[PairOp]):
    """function(input, other), where one may be a number."""

    def __init__(self, function: ScalarFunction):
        self.function = function

    def decompose(self, op: PairOp, emit: Emitter) -> Tensor:
        return arithmetic(self.function, emit(op.input), emit(op.other))


class Computed(Decomposition[PairOp]):
    """What a Python function of input and other computes; a number becomes a tensor."""

    def __init__(self, compute: Callable[[Tensor, Tensor], Tensor]):
        self.compute = compute

    def decompose(self, op: PairOp, emit: Emitter) -> Tensor:
        return self.compute(as_tensor(emit, op.input), as_tensor(emit, op.other))


def as_common(emit: Emitter, argument: torch.SSAValue | torch.Scalar) -> Argument:
    """
    Return an argument to compute with, where a number is cast as tensors are: rounded to a half
    type, wrapped around in a narrow integer type. Products and quotients of half types take numbers
    as they are, most else does not.
    """
    value = emit(argument)
    if isinstance(value, Tensor) or emit.common == emit.type:
        return value
    return emit.constant(value, (), emit.common).cast(emit.type)


def as_tensor(emit: Emitter, argument: torch.SSAValue | torch.Scalar) -> Tensor:
    """As `as_common`, but a number is a tensor of the result's shape."""
    value = as_common(emit, argument)
    if isinstance(value, Tensor):
        return value
    return emit.constant(value, shape_of(emit.op.results[0]))


ScaledOp = torch.AddOp | torch.AddScalarOp | torch.SubOp | torch.SubScalarOp


class Scaled(Decomposition[ScaledOp]):
    """input + alpha * other, or a difference."""

    def __init__(self, function: ScalarFunction):
        self.function = function

    def decompose(self, op: ScaledOp, emit: Emitter) -> Tensor:
        other = _scaled(emit, op.other, op.alpha)
        return arithmetic(self.function, emit(op.input), other)


class Rsub(Decomposition[torch.RsubOp | torch.RsubScalarOp]):
    """other - alpha * input"""

    def decompose(self, op: torch.RsubOp | torch.RsubScalarOp, emit: Emitter) -> Tensor:
        input = _scaled(emit, op.input, op.alpha)
        return elementwise(ScalarFunction.SUB, as_common(emit, op.other), input)


def _scaled(emit: Emitter, value: torch.SSAValue | torch.Scalar, factor: torch.Scalar) -> Argument:
    """`value * factor`, without a multiplication by one."""
    argument = as_common(emit, value)
    if emit(factor) == 1:
        return argument
    scale = as_common(emit, factor)
    if isinstance(argument, Tensor) or isinstance(scale, Tensor):
        return arithmetic(ScalarFunction.MUL, argument, scale)
    return argument * scale


class Ldexp(Decomposition[torch.LdexpOp]):
    """input * 2^other, where the power is rounded if other is of floats."""

    def decompose(self, op: torch.LdexpOp, emit: Emitter) -> Tensor:
        type = element_of(op.other)
        if type not in FLOATS:
            return emit(op.input) * elementwise(ScalarFunction.EXP2, emit(op.other))
        exponent = emit.stored(op.other).cast(compute_type(type))
        power = elementwise(ScalarFunction.EXP2, exponent).cast(type)
        return emit(op.input) * power.cast(emit.common).cast(emit.type)


def fmax(input: Tensor, other: Tensor) -> Tensor:
    """Return the larger, or the one that is no NaN."""
    return _numbers_first(input, other, arithmetic(ScalarFunction.MAXIMUM, input, other))


def fmin(input: Tensor, other: Tensor) -> Tensor:
    """Return the smaller, or the one that is no NaN."""
    return _numbers_first(input, other, arithmetic(ScalarFunction.MINIMUM, input, other))


def _numbers_first(input: Tensor, other: Tensor, both: Tensor) -> Tensor:
    if not both.is_float:
        return both
    return input.is_nan().where(other, other.is_nan().where(input, both))


def hypot(input: Tensor, other: Tensor) -> Tensor:
    """
    sqrt(input^2 + other^2) as long * sqrt(1 + (short / long)^2), where nothing overflows that is
    smaller than the result. Infinite if one is, even beside NaN.
    """
    input, other = input.abs(), other.abs()
    long, short = input.maximum(other), input.minimum(other)
    ratio = short / long
    length = long * (ratio * ratio + 1.0).sqrt()
    infinite = input.equals(inf) | other.equals(inf)
    return infinite.where(inf, long.equals(0.0).where(0.0, length))


def copysign(input: Tensor, other: Tensor) -> Tensor:
    """Return the size of input with the sign of other."""
    size = input.abs()
    return is_negative(other).where(-size, size)


def xlogy(input: Tensor, other: Tensor) -> Tensor:
    """input * log(other), 0 for an input of 0, NaN for an other that is NaN."""
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
