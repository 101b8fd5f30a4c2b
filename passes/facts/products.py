# SPDX-License-Identifier: Apache-2.0
"""
The products that a reduction joins, and the type that each of their factors really has.

    %sum = loop.reduce %k in 64 with add {
      %0 = loop.load %x[%i, %k] : memref<32x64xbf16>
      %1 = arith.extf %0 : bf16 to f32
      %2 = loop.load %w[%k, %j] : memref<64x16xf32>
      %3 = arith.mulf %1, %2 : f32
      loop.yield %3 : f32
    } : f32

joins one product, of a bf16 value and an f32 value. A matrix instruction multiplies factors of one
half type exactly and adds the products in float32: the casts in front of it cost nothing.
"""

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.dialects import arith
from xdsl.dialects.builtin import f32
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects import loop
from tilewright.dialects.element_types import HALVES
from tilewright.dialects.matrix_instruction import MatrixInstruction
from tilewright.dialects.monoid import Monoid


class Factor(NamedTuple):
    """A factor of a product."""

    value: SSAValue
    """Operand of the multiplication."""
    narrow: SSAValue
    """Value that `arith.extf` widens to the operand; the operand itself if it is not widened."""

    @property
    def type(self) -> Attribute:
        """Type that holds the factor exactly: bf16 if it is the widening of a bf16 value."""
        return self.narrow.type


class Product(NamedTuple):
    """A multiplication of floats whose result a reduction joins."""

    op: arith.MulfOp
    left: Factor
    right: Factor

    @property
    def is_approximate(self) -> bool:
        """True if the factors may be rounded to tf32: the product has the flag `afn`."""
        return FastMathFlag.APPROX_FUNC in self.op.fastmath.data

    @property
    def half_type(self) -> Attribute | None:
        """Half type of both factors; None if they differ, or are wider."""
        if self.left.type != self.right.type or self.left.type not in HALVES:
            return None
        return self.left.type


def factor_of(value: SSAValue) -> Factor:
    """Return an operand of a multiplication as a factor."""
    if isinstance(cast := value.owner, arith.ExtFOp) and cast.input.type in HALVES:
        return Factor(value, cast.input)
    return Factor(value, value)


def is_widened(value: SSAValue) -> bool:
    """True if `value` is the widening of a value of a half type."""
    return factor_of(value).narrow is not value


def products_of(reduction: loop.ReduceOp) -> Sequence[Product]:
    """
    Return the products of floats among the values that `reduction` yields, in order. Values that
    are not products are left out.
    """
    owners = [value.owner for value in reduction.yield_op.values]
    return [
        Product(op, factor_of(op.lhs), factor_of(op.rhs))
        for op in owners
        if isinstance(op, arith.MulfOp)
    ]


def instructions_of(products: Sequence[Product]) -> list[MatrixInstruction]:
    """
    Return the instructions that multiply the types of all factors, the fastest first. Factors of
    float32 are rounded to tf32 only if all products have the flag `afn`.
    """
    types = {factor.type for each in products for factor in (each.left, each.right)}
    found = [each for each in MatrixInstruction if types == {each.fragments.element}]
    if not all(product.is_approximate for product in products):
        found = [each for each in found if each is not MatrixInstruction.M16N8K8_TF32]
    return found


def half_type_of(reduction: loop.ReduceOp) -> Attribute | None:
    """
    Return the half type of all factors of `reduction`; None unless it sums only products of one
    half type, in float32.
    """
    if reduction.monoid.data is not Monoid.ADD:
        return None
    products = products_of(reduction)
    types = {product.half_type for product in products}
    if len(products) < len(reduction.results) or len(types) != 1:
        return None
    return types.pop() if all(result.type == f32 for result in reduction.results) else None
