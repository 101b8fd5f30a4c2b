# SPDX-License-Identifier: Apache-2.0
"""
Decompositions of functions of each element of one tensor.

    %1 = torch.frac %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>

becomes

    %t = prim.elementwise trunc(%0) : tensor<4x8xf32>
    %1 = prim.elementwise sub(%0, %t) : tensor<4x8xf32>
"""

from collections.abc import Callable, Mapping
from functools import partial
from math import inf, pi

from xdsl.dialects.builtin import bf16, f16, f32, f64, i1
from xdsl.ir import Attribute

from tilewright.dialects import torch
from tilewright.dialects.prim import ScalarFunction
from tilewright.passes.decompose.decomposition import Decomposition, Table
from tilewright.passes.decompose.elementwise import elementwise
from tilewright.passes.decompose.tensor import Emitter, Tensor


class Unary(Decomposition[torch.UnaryOp]):
    """Decomposition by a Python function of the input: `compute(input)`."""

    def __init__(self, compute: Callable[[Tensor], Tensor]):
        self.compute = compute

    def decompose(self, op: torch.UnaryOp, emit: Emitter) -> Tensor:
        return self.compute(emit(op.input))


def unary(function: ScalarFunction) -> Unary:
    """Return the decomposition to one function of Tensor IR."""
    return Unary(partial(elementwise, function))


def _on_floats(function: ScalarFunction) -> Unary:
    """Return the decomposition to a function of floats; integers stay unchanged."""
    return Unary(lambda x: elementwise(function, x) if x.is_float else x)


def _sign(x: Tensor) -> Tensor:
    if x.element == i1:
        return x
    return (x > 0).cast(x.element) - (x < 0).cast(x.element)


def is_negative(x: Tensor) -> Tensor:
    """Return bools that are true for elements with a minus sign. -0.0 has one: 1 / -0.0 is -inf."""
    if x.element == i1:
        return x.emit.constant(0, x.shape, i1)
    return (x < 0) | (x.equals(0) & ((1.0 / x) < 0)) if x.is_float else x < 0


class RoundDecimals(Decomposition[torch.RoundDecimalsOp]):
    """
    Decomposition of `round` with decimals: `round(input * 10^decimals) / 10^decimals`. For negative
    decimals it divides before rounding and multiplies afterwards.
    """

    def decompose(self, op: torch.RoundDecimalsOp, emit: Emitter) -> Tensor:
        input, decimals = emit(op.input), op.decimals.value.data
        # A larger scale would be infinite in every type.
        scale = 10.0 ** min(abs(decimals), 308)
        if decimals >= 0:
            return elementwise(ScalarFunction.ROUND, input * scale) / scale
        return elementwise(ScalarFunction.ROUND, input / scale) * scale


class Logit(Decomposition[torch.LogitOp]):
    """
    Decomposition of `logit`: `log(input / (1 - input))`; the input is first limited to `eps` and `1
    - eps` if `eps` is given.
    """

    def decompose(self, op: torch.LogitOp, emit: Emitter) -> Tensor:
        x = emit(op.input)
        if op.eps is not None and (eps := emit(op.eps)) >= 0:
            x = x.maximum(eps).minimum(1.0 - eps)
        return (x / (1.0 - x)).log()


_LARGEST: Mapping[Attribute, float] = {
    f16: (2 - 2.0**-10) * 2.0**15,
    bf16: (2 - 2.0**-7) * 2.0**127,
    f32: (2 - 2.0**-23) * 2.0**127,
    f64: (2 - 2.0**-52) * 2.0**1023,
}
"""Largest finite number of each type."""


class NanToNum(Decomposition[torch.NanToNumOp]):
    """
    Decomposition of `nan_to_num`: finite numbers replace NaN and infinity; integers stay unchanged.
    """

    def decompose(self, op: torch.NanToNumOp, emit: Emitter) -> Tensor:
        input = emit(op.input)
        if not input.is_float:
            return input
        largest = _LARGEST[emit.common]
        nan = 0.0 if op.nan is None else emit(op.nan)
        posinf = largest if op.posinf is None else emit(op.posinf)
        neginf = -largest if op.neginf is None else emit(op.neginf)
        finite = input.equals(-inf).where(neginf, input.equals(inf).where(posinf, input))
        return input.is_nan().where(nan, finite)


PATTERNS: Table = {
    torch.NegOp: unary(ScalarFunction.NEG),
    torch.AbsOp: unary(ScalarFunction.ABS),
    torch.SignOp: Unary(_sign),
    torch.SgnOp: Unary(_sign),
    torch.ReciprocalOp: Unary(lambda x: 1.0 / x),
    torch.FloorOp: _on_floats(ScalarFunction.FLOOR),
    torch.CeilOp: _on_floats(ScalarFunction.CEIL),
    torch.TruncOp: _on_floats(ScalarFunction.TRUNC),
    torch.FracOp: Unary(lambda x: x - elementwise(ScalarFunction.TRUNC, x)),
    torch.RoundOp: _on_floats(ScalarFunction.ROUND),
    torch.RoundDecimalsOp: RoundDecimals(),
    torch.Deg2radOp: Unary(lambda x: x * (pi / 180)),
    torch.Rad2degOp: Unary(lambda x: x * (180 / pi)),
    torch.NanToNumOp: NanToNum(),
    torch.ExpOp: unary(ScalarFunction.EXP),
    torch.Exp2Op: unary(ScalarFunction.EXP2),
    torch.Expm1Op: unary(ScalarFunction.EXPM1),
    torch.LogOp: unary(ScalarFunction.LOG),
    torch.Log2Op: unary(ScalarFunction.LOG2),
    torch.Log10Op: unary(ScalarFunction.LOG10),
    torch.Log1pOp: unary(ScalarFunction.LOG1P),
    torch.SqrtOp: unary(ScalarFunction.SQRT),
    torch.RsqrtOp: unary(ScalarFunction.RSQRT),
    torch.SinOp: unary(ScalarFunction.SIN),
    torch.CosOp: unary(ScalarFunction.COS),
    torch.TanOp: unary(ScalarFunction.TAN),
    torch.AsinOp: unary(ScalarFunction.ASIN),
    torch.AcosOp: unary(ScalarFunction.ACOS),
    torch.AtanOp: unary(ScalarFunction.ATAN),
    torch.SinhOp: unary(ScalarFunction.SINH),
    torch.CoshOp: unary(ScalarFunction.COSH),
    torch.TanhOp: unary(ScalarFunction.TANH),
    torch.AsinhOp: unary(ScalarFunction.ASINH),
    torch.AcoshOp: unary(ScalarFunction.ACOSH),
    torch.AtanhOp: unary(ScalarFunction.ATANH),
    torch.ErfOp: unary(ScalarFunction.ERF),
    torch.ErfcOp: unary(ScalarFunction.ERFC),
    torch.LogitOp: Logit(),
}
