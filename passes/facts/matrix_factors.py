# SPDX-License-Identifier: Apache-2.0
"""
Factors of the products that a reduction adds, and the matrix instructions for their types.

    %0 = loop.load %as[%i, %k] : memref<64x64xbf16, 3 : i64>        a factor: loaded from a slab
    %1 = arith.extf %0 : bf16 to f32
    %2 = loop.load %bs[%k, %j] : memref<64x64xbf16, 3 : i64>        the other factor
    %3 = arith.extf %2 : bf16 to f32
    %4 = arith.mulf %1, %3 : f32                                    m16n8k16_bf16
"""

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import f32
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects import loop, tile
from tilewright.dialects.matrix_instruction import MatrixInstruction
from tilewright.dialects.monoid import Monoid
from tilewright.dialects.tile.attributes import Axis
from tilewright.dialects.types import memref_type, size_of
from tilewright.passes.facts.memoised import memoised
from tilewright.passes.facts.products import instructions_of, products_of
from tilewright.passes.facts.slab_masks import slab_masks


class SlabFactor(NamedTuple):
    """Factor of the product that a reduction adds: a load from a slab, perhaps cast to float32."""

    load: loop.LoadOp

    @property
    def element(self) -> Attribute:
        """Type of the elements in memory."""
        return self.load.result.type

    @property
    def bytes(self) -> int:
        """Size of an element in bytes."""
        return size_of(self.element)

    def differs_along(self, axes: Sequence[Axis]) -> bool:
        """True if one of `axes` is in the subscripts of the load."""
        return any(axis.value in self.load.indices for axis in axes)

    def has_all(self, axes: Sequence[Axis]) -> bool:
        """True if all of `axes` are in the subscripts of the load."""
        return all(axis.value in self.load.indices for axis in axes)


@memoised
def factors_of(op: loop.ReduceOp) -> Sequence[tuple[SlabFactor, SlabFactor]] | str:
    """Return the factors of each product that `op` adds, or the reason why there are none."""
    products = products_of(op)
    if op.monoid.data is not Monoid.ADD or any(type != f32 for type in op.result_types):
        return "it does not add in float32"
    if len(products) < len(op.results):
        return "it adds values that are no products"
    if op.is_bounded:
        return "the steps of a chunk are bounded"
    pairs: list[tuple[SlabFactor, SlabFactor]] = []
    for product in products:
        left, right = _factor(product.left.narrow), _factor(product.right.narrow)
        if left is None or right is None:
            return "a factor is computed where it is used; stage it (stage-inputs)"
        pairs.append((left, right))
    if slab_masks(op, [factor.load for pair in pairs for factor in pair]) is None:
        return "no slab can have the mask of its steps in place of its yield"
    return pairs


def _factor(value: SSAValue) -> SlabFactor | None:
    """Return a value that is loaded from a slab as a factor, or None."""
    load = value.owner
    if not isinstance(load, loop.LoadOp) or load.mask is not None:
        return None
    return SlabFactor(load) if memref_type(load.memref).memory_space == tile.SHARED else None


@memoised
def instructions_for(op: loop.ReduceOp) -> list[MatrixInstruction]:
    """Return the instructions for the products that `op` adds, if all factors are in slabs."""
    return [] if isinstance(factors_of(op), str) else instructions_of(products_of(op))


def multiplies_halves(op: loop.ReduceOp) -> bool:
    """True if the reduction adds products of two slabs' elements of one half type."""
    return any(each.fragments.element != f32 for each in instructions_for(op))
