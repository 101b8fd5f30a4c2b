# SPDX-License-Identifier: Apache-2.0
"""
Copy of a program at Loop IR or below in which the factors of products with the flag `afn` are
rounded to tf32:

    %p = arith.mulf %a, %b fastmath<afn> : f32

becomes, with %b rounded in the same way,

    %half = arith.constant 4096 : i32
    %kept = arith.constant -8192 : i32
    %0 = arith.bitcast %a : f32 to i32
    %1 = arith.addi %0, %half : i32
    %2 = arith.andi %1, %kept : i32
    %3 = arith.bitcast %2 : i32 to f32
    %p = arith.mulf %3, %5 : f32

The copy has all errors that the flag allows. Interpret it in its own dtypes only: float64 has other
bits.
"""

from collections.abc import Iterator

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp, f32, i32
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint

_DROPPED = 13
"""Bits of a float32 that tf32 lacks."""


def with_rounded_factors(module: ModuleOp) -> ModuleOp | None:
    """Return a copy of `module` with rounded factors; None if no product allows to round them."""
    if not any(True for _ in _flagged(module)):
        return None
    copy = module.clone()
    for op in [*_flagged(copy)]:
        builder = Builder(InsertPoint.before(op))
        op.operands = [_rounded(value, builder) for value in op.operands]
    return copy


def _flagged(module: ModuleOp) -> Iterator[arith.MulfOp]:
    """Yield the float32 products whose factors may be rounded."""
    for op in module.walk():
        if isinstance(op, arith.MulfOp) and op.result.type == f32:
            if FastMathFlag.APPROX_FUNC in op.fastmath.data:
                yield op


def _rounded(value: SSAValue, builder: Builder) -> SSAValue:
    """Return `value` rounded to tf32, ties away from zero."""
    half = builder.insert(arith.ConstantOp.from_int_and_width(1 << (_DROPPED - 1), i32)).result
    kept = builder.insert(arith.ConstantOp.from_int_and_width(-(1 << _DROPPED), i32)).result
    bits = builder.insert(arith.BitcastOp(value, i32)).result
    above = builder.insert(arith.AddiOp(bits, half)).result
    nearest = builder.insert(arith.AndIOp(above, kept)).result
    return builder.insert(arith.BitcastOp(nearest, f32)).result
