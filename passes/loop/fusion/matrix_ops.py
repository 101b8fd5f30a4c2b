# SPDX-License-Identifier: Apache-2.0
"""
The ops of a kernel that tensor cores do, and those that matrix instructions make unnecessary.

    %sum = loop.reduce %k in 64 with add {
      %0 = loop.load %x[%i, %k] : memref<32x64xbf16>      // free: copied to shared memory as it is
      %1 = arith.extf %0 : bf16 to f32                    // free: the instruction reads bf16
      %2 = loop.load %y[%k, %j] : memref<64x16xf32>
      %3 = math.exp %2 : f32
      %4 = arith.truncf %3 : f32 to bf16
      %5 = arith.extf %4 : bf16 to f32                    // free
      %6 = arith.mulf %1, %5 : f32                        // a product of tensor cores
      loop.yield %6 : f32
    } : f32

The other ops compute a factor (the prologue), and run on the float32 lanes.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from xdsl.ir import Operation, SSAValue

from tilewright.dialects import loop
from tilewright.passes.facts.nest import nest_block
from tilewright.passes.facts.products import Factor, Product, half_type_of, products_of
from tilewright.passes.loop.fusion.op_runs import varying


class MatrixOps(NamedTuple):
    """Ops of contractions whose factors have a half type."""

    products: frozenset[Operation] = frozenset()
    """Multiplications that tensor cores do, together with the sums of their results."""
    free: frozenset[Operation] = frozenset()
    """Casts of factors, and loads of factors that no op computes."""


def matrix_ops(kernel: loop.KernelOp) -> MatrixOps:
    """
    Return the matrix ops of a kernel. There are none unless all reductions in its outermost nest
    sum products of one half type, and each product has one factor for each row and one for each
    column.
    """
    block = nest_block(kernel)
    reductions = [op for op in block.ops if isinstance(op, loop.ReduceOp)]
    if not reductions or any(half_type_of(op) is None for op in reductions):
        return MatrixOps()
    varies, axes = varying(kernel), frozenset(block.args)
    products = [product for op in reductions for product in products_of(op)]
    if not all(_is_of_matrices(product, varies, axes) for product in products):
        return MatrixOps()
    factors = [factor for product in products for factor in (product.left, product.right)]
    free = frozenset(op for factor in factors for op in _free(factor))
    return MatrixOps(frozenset(product.op for product in products), free)


def _is_of_matrices(
    product: Product,
    varies: Mapping[Operation, frozenset[SSAValue]],
    axes: frozenset[SSAValue],
) -> bool:
    """True if each factor varies with one of `axes` with which the other does not vary."""
    left, right = (
        varies[factor.value.owner] & axes
        for factor in (product.left, product.right)
        if isinstance(factor.value.owner, Operation)
    )
    return bool(left - right and right - left)


def _free(factor: Factor) -> Iterator[Operation]:
    """Yield the cast of a factor of a half type, and its load."""
    if isinstance(factor.value.owner, Operation):
        yield factor.value.owner
    if isinstance(factor.narrow.owner, loop.LoadOp):
        yield factor.narrow.owner
