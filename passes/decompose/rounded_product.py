# SPDX-License-Identifier: Apache-2.0
"""
Products that reductions add, in the precision that the module names (`dialects/precision`).

    builtin.module attributes {torch.matmul_precision = "high"} {
      ... torch.matmul %0, %1 : (tensor<16x64xf32>, tensor<64x32xf32>) -> tensor<16x32xf32>

becomes, with operands viewed over the joint domain,

    %p = prim.elementwise mul(%l, %r) fastmath<afn> : tensor<16x32x64xf32>
    %2 = prim.reduce add(%p) dims [2] : (tensor<16x32x64xf32>) -> tensor<16x32xf32>

The flag `afn` allows later passes to round the factors to tf32. With `medium`, the factors are also
cast to bf16 and back: later passes then see a product of half types. Products of other types than
float32 are unchanged.
"""

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import bf16
from xdsl.dialects.utils import FastMathFlag

from tilewright.dialects.precision import Precision
from tilewright.dialects.scalar_function import ScalarFunction
from tilewright.dialects.torch.precision import precision_at
from tilewright.passes.decompose.elementwise import elementwise
from tilewright.passes.decompose.tensor import Tensor


def rounded_product(left: Tensor, right: Tensor, fastmath: Sequence[FastMathFlag] = ()) -> Tensor:
    """
    Return the product of two tensors, broadcast to one shape, which a reduction then adds. The
    multiplication has the flags `fastmath`, and those of the op's precision.
    """
    return flagged_product(rounded_factor(left), rounded_factor(right), fastmath)


def flagged_product(left: Tensor, right: Tensor, fastmath: Sequence[FastMathFlag] = ()) -> Tensor:
    """Return what `rounded_product` returns, for the results of `rounded_factor`."""
    flags = [*fastmath]
    if precision_at(left.emit.op) is not Precision.HIGHEST:
        flags.append(FastMathFlag.APPROX_FUNC)
    attribute = FastMathFlagsAttr(flags) if flags else None
    return elementwise(ScalarFunction.MUL, left, right, fastmath=attribute)


def rounded_factor(factor: Tensor) -> Tensor:
    """
    Return a factor, rounded to bf16 if the op's precision is `medium`. The elements are rounded
    before they are viewed, each once.
    """
    if precision_at(factor.emit.op) is not Precision.MEDIUM:
        return factor
    whole = factor.emit.stored(factor.source)
    return replace(factor, source=whole.cast(bf16).cast(whole.element).value)
