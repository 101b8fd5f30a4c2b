# SPDX-License-Identifier: Apache-2.0
"""
Ops that replace a chunk of a reduction by softmax, once each thread of a row has keys of its own
(`share-scores`):

    %mc, %sc, %oc = loop.reduce %ki in 64 with softmax { ... loop.yield %x, %one, %v where [...] }

becomes

    %masked = arith.select %p, %x, %minus_infinity         %tn is a key
    %mc = tile.combine %masked across %tn with max
    %finite = arith.maximumf %mc, %lowest                  -inf - -inf is NaN
    %weight = math.exp (%masked - %finite)
    %sc = tile.combine %weight across %tn with add
    %ps = tile.share %weight at [%tm, %tn]
    %oc = loop.reduce %kk in 64 with add { ... loop.yield %ps[%tm, %kk] * %v }      %tn is a column
"""

from collections.abc import Sequence, Set
from math import inf, isfinite
from typing import NamedTuple

from xdsl.dialects import arith
from xdsl.dialects import math as math_dialect
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Access, extent_of, optional_mask
from tilewright.dialects.element_types import LOWEST, number_attribute
from tilewright.dialects.fastmath import APPROXIMATE
from tilewright.dialects.monoid import Monoid, MonoidAttr
from tilewright.dialects.target import WIDEST_BYTES
from tilewright.dialects.tile.layout import with_layout
from tilewright.dialects.types import memref_of, size_of
from tilewright.passes.facts.nest import needed_by
from tilewright.passes.facts.products import factor_of
from tilewright.passes.facts.weighted_values import unscaled
from tilewright.passes.rewriting.substitution import Substitution, conjunction
from tilewright.passes.tile.annihilation import vanishes_beyond


class Key(NamedTuple):
    """Number of a thread's key in a chunk."""

    at: AffineExpr
    operands: Sequence[SSAValue]
    across: Sequence[SSAValue]
    """Axes of the launch that make up the number: the keys of a row lie across them."""


class SharedChunk:
    """Writer of the ops that replace `chunk`, at the end of `body`."""

    def __init__(
        self,
        chunk: loop.ReduceOp,
        body: Block,
        outer: Substitution,
        row: SSAValue,
        key: Key,
        slice: int | None,
    ):
        self.chunk, self.body, self.outer, self.row, self.key = chunk, body, outer, row, key
        self.slice = slice
        """Keys of a slice of the products with values; None if these are not sliced."""
        self.type = chunk.results[0].type
        self._slabs: dict[Attribute, SSAValue] = {}
        """Slabs of the weights, by the type that they are rounded to."""

    def results(self, products: Set[SSAValue]) -> list[SSAValue]:
        """
        Add the ops, and return the values that the chunk yielded. The values in `products` vary
        along the columns.
        """
        score, *values = self.chunk.yield_op.values
        score, scale = _unscaled(score)
        owned = self._with_step(self.key.at, self.key.operands)
        self._clone([score, *(v for v in values if v not in products)], owned, self.body)
        mask = self._mask(owned, self.body)
        masked = self._masked(owned.value(score), mask)
        largest = self._combined(masked, Monoid.MAX)
        weight = self._weight(masked, largest, scale)
        sums = (
            self._product(value, weight)
            if value in products
            else self._sum(owned.value(value), weight, mask)
            for value in values
        )
        sums = list(sums)
        if scale != 1:
            largest = self._add(arith.MulfOp(largest, self._number(scale)))
        return [largest, *sums]

    def _masked(self, score: SSAValue, mask: Access | None) -> SSAValue:
        """Return the score of a thread's key, which is minus infinity where the mask fails."""
        if mask is None:
            return score
        counts = self._add(loop.PredicateOp(mask))
        return self._add(arith.SelectOp(counts, score, self._number(-inf)), "masked")

    def _weight(self, masked: SSAValue, largest: SSAValue, scale: float) -> SSAValue:
        """
        Return the exponential of a score minus the largest one; 0 for minus infinity. It is at most
        1, and may be approximate: the error of a weight is then a small part of the largest one.
        Scores are the given numbers times `scale`.
        """
        finite = self._add(arith.MaximumfOp(largest, self._number(LOWEST[self.type])), "finite")
        relative = self._add(arith.SubfOp(masked, finite))
        if scale != 1:
            relative = self._add(arith.MulfOp(relative, self._number(scale)))
        return self._add(math_dialect.ExpOp(relative, APPROXIMATE), "weight")

    def _sum(self, value: SSAValue, weight: SSAValue, mask: Access | None) -> SSAValue:
        """Return the sum of a value that does not vary along the columns."""
        match value.owner:
            case arith.ConstantOp(value=FloatAttr() as number) if isfinite(number.value.data):
                is_one = number.value.data == 1
                term = weight if is_one else self._add(arith.MulfOp(weight, value))
                return self._combined(term, Monoid.ADD)
            case _:
                term = self._add(arith.MulfOp(weight, value, self.chunk.fastmath))
                return self._combined(term, Monoid.ADD, self._needed(mask, value))

    def _product(self, value: SSAValue, weight: SSAValue) -> SSAValue:
        """Return the sum of a value that varies along the columns."""
        half = factor_of(value).type if factor_of(value).type == self.chunk.weights else self.type
        slab = self._slab(weight, half)
        whole, sum, step = self._loops_over_keys()
        block, (at, axes) = sum.body.block, step
        row = AffineExpr.dimension(len(axes))
        loaded = loop.LoadOp(slab, ([row, at], [*axes, self.row]))
        factor = arith.ExtFOp(loaded, self.type) if half != self.type else loaded
        block.add_ops(dict.fromkeys([loaded, factor]))
        own = self._with_step(at, axes)
        self._clone([value], own, block)
        product = arith.MulfOp(factor, own.value(value), self.chunk.fastmath)
        where = self._needed(self._mask(own, block), own.value(value))
        block.add_ops([product, loop.YieldOp([product.result], where)])
        return self._add(whole)

    def _loops_over_keys(
        self,
    ) -> tuple[loop.ReduceOp, loop.ReduceOp, tuple[AffineExpr, Sequence[SSAValue]]]:
        """
        Return a sum over the keys of a chunk, the sum inside of it whose body is empty, and the
        number of the key there. Both are the same sum if there are no slices.
        """
        keys = self.chunk.axis_extents()[0]
        first, second = map(AffineExpr.dimension, range(2))
        sum = self._empty_sum(self.slice or keys, "kk")
        if self.slice is None:
            return sum, sum, (first, [sum.axis])
        whole = self._empty_sum(keys // self.slice, "vo")
        whole.body.block.add_ops([sum, loop.YieldOp(sum.results)])
        sum.results[0].name_hint = "chunk"
        return whole, sum, (first * self.slice + second, [whole.axis, sum.axis])

    def _empty_sum(self, steps: int, name: str) -> loop.ReduceOp:
        """Return a sum with an empty body."""
        sum = loop.ReduceOp.create(
            result_types=[self.type],
            properties={
                "extent": IntegerAttr(steps, i64),
                "monoid": MonoidAttr(Monoid.ADD),
            },
            regions=[Region(Block(arg_types=[IndexType()]))],
        )
        sum.axis.name_hint = name
        return sum

    def _slab(self, weight: SSAValue, type: Attribute) -> SSAValue:
        """
        Return the slab of the weights of all rows and keys, rounded to `type`. Rows that are read
        together lie in different banks, by a pad of 16 bytes.
        """
        if type not in self._slabs:
            value = weight if type == self.type else self._add(arith.TruncFOp(weight, type))
            row = AffineExpr.dimension(len(self.key.operands))
            keys = self.chunk.axis_extents()[0]
            rows = memref_of(type, (extent_of(self.row) or 1, keys), tile.SHARED)
            padded = tile.layout_of(rows).with_pad(rows, WIDEST_BYTES // size_of(type))
            slab = with_layout(rows, padded)
            at = [row, self.key.at], [*self.key.operands, self.row]
            self._slabs[type] = self._add(tile.ShareOp(value, at, slab), "weights")
        return self._slabs[type]

    def _needed(self, mask: Access | None, value: SSAValue) -> Access | None:
        """
        Return the part of the mask under which a product of `value` counts: where it fails, the
        weight is 0, but the value may be NaN. Zeros need no mask. Values that count as finite need
        none at steps of the program, which a row leaves out, but beyond the last key.
        """
        if mask is None:
            return None
        exprs, operands = mask
        if self.chunk.counts_as_finite:
            rows = {at for at, operand in enumerate(operands) if operand == self.row}
            exprs = [expr for expr in exprs if rows.isdisjoint(expr.used_dims())]
        return conjunction(
            ([expr], operands) for expr in exprs if not vanishes_beyond(value, ([expr], operands))
        )

    def _number(self, number: float) -> SSAValue:
        return self._add(arith.ConstantOp(number_attribute(number, self.type)))

    def _combined(self, value: SSAValue, monoid: Monoid, where: Access | None = None) -> SSAValue:
        return self._add(tile.CombineOp([value], self.key.across, MonoidAttr(monoid), where))

    def _mask(self, substitution: Substitution, block: Block) -> Access | None:
        """Return the condition under which a step of the chunk counts; None if it always does."""
        ends = self.chunk.yield_op
        self._clone(ends.mask_operands, substitution, block)
        done = substitution.access(*self.chunk.done_where)
        operands, map = optional_mask(conjunction([substitution.mask(ends), done]))
        return None if map is None else (map.data.results, operands)

    def _with_step(self, at: AffineExpr, operands: Sequence[SSAValue]) -> Substitution:
        """Return the substitution of the launch, with an expression for the step of the chunk."""
        indices = {**self.outer.indices, self.chunk.axis: (at, operands)}
        return Substitution({**self.outer.values}, indices, parts=self.outer.parts)

    def _clone(self, values: Sequence[SSAValue], substitution: Substitution, block: Block) -> None:
        """Clone the ops of the chunk that `values` depend on, except those that are cloned."""
        needed, _ = needed_by([*self.chunk.body.block.ops], values)
        for op in needed:
            if not substitution.values.keys() >= {*op.results}:
                block.add_op(substitution.clone(op))

    def _add(self, op: Operation, name: str | None = None) -> SSAValue:
        op.location = self.chunk.location
        self.body.add_op(op)
        op.results[0].name_hint = name
        return op.results[0]


def _unscaled(score: SSAValue) -> tuple[SSAValue, float]:
    """
    Return a number, and the constant up to 1 that it is multiplied by in `score`. The largest
    number belongs to the largest score. A larger constant might make infinite scores of numbers.
    """
    number, scale = unscaled(score)
    return (number, scale) if scale <= 1 else (score, 1.0)
