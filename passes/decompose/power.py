# SPDX-License-Identifier: Apache-2.0
"""
Decompositions of powers. Exponents that PyTorch computes without `pow` are computed the same way
here.

    %1 = torch.pow.Tensor_Scalar %0 exponent 2 : (tensor<16x64xf32>) -> tensor<16x64xf32>

becomes

    %1 = prim.elementwise mul(%0, %0) : tensor<16x64xf32>
"""

from collections.abc import Callable, Mapping

from xdsl.dialects.builtin import f16

from tilewright.dialects import torch
from tilewright.dialects.prim import ScalarFunction
from tilewright.passes.decompose.binary import as_common
from tilewright.passes.decompose.decomposition import Decomposition, Table
from tilewright.passes.decompose.elementwise import elementwise
from tilewright.passes.decompose.tensor import Emitter, Tensor

# ATen's pow_tensor_scalar (aten/src/ATen/native/cpu/PowKernel.cpp). Results differ from pow, too:
# the square root of -inf is NaN, but pow(-inf, 0.5) is inf.
_SPECIAL: Mapping[float, Callable[[Tensor], Tensor]] = {
    0.0: lambda x: x.emit.constant(1, x.shape),
    1.0: lambda x: x,
    2.0: lambda x: x * x,
    3.0: lambda x: x * x * x,
    0.5: lambda x: elementwise(ScalarFunction.SQRT, x),
    -0.5: lambda x: x.rsqrt(),
    -1.0: lambda x: 1.0 / x,
    -2.0: lambda x: 1.0 / (x * x),
}
_ROOTS = (0.5, -0.5)
"""Exponents that use `pow` for float16, although they have a special form for other types."""


class Pow(Decomposition[torch.PowOp | torch.ScalarPowOp]):
    """Decomposition of `pow`: `input ^ exponent`, where the input may be a number."""

    def decompose(self, op: torch.PowOp | torch.ScalarPowOp, emit: Emitter) -> Tensor:
        input, exponent = as_common(emit, op.input), emit(op.exponent)
        return elementwise(ScalarFunction.POW, input, exponent)


class PowScalar(Decomposition[torch.PowScalarOp]):
    """Decomposition of `pow` with a number as the exponent: `input ^ exponent`."""

    def decompose(self, op: torch.PowScalarOp, emit: Emitter) -> Tensor:
        input, exponent = emit(op.input), emit(op.exponent)
        is_root = emit.common == f16 and exponent in _ROOTS
        if (special := _SPECIAL.get(exponent)) is not None and not is_root:
            return special(input)
        return elementwise(ScalarFunction.POW, input, as_common(emit, op.exponent))


PATTERNS: Table = {
    torch.PowOp: Pow(),
    torch.PowScalarOp: PowScalar(),
    torch.ScalarPowOp: Pow(),
}
