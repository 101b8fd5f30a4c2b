# SPDX-License-Identifier: Apache-2.0
"""
Places of accesses in memory: the subscripts of a register array, or the offset in a buffer or in
shared memory, which depends on the layout.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from tilewright.dialects.index import Sum, simplify, sum_of
from tilewright.dialects.tile.layout import CHUNK_BYTES, ROW_BYTES, layout_of
from tilewright.dialects.types import size_of
from tilewright.passes.cuda.index import Index


class Swizzle(NamedTuple):
    """
    Permuted part of an offset: `low ^ (key * chunk)`. The other part of the offset is a multiple of
    the span, and the permuted part is below the span.
    """

    low: Index
    key: Index
    chunk: int
    """Number of elements that are moved together."""
    span: int
    """Number of elements within which the chunks are permuted."""


class Place(NamedTuple):
    """Indices of an access, one for each subscript in the text; a swizzle is added to the last."""

    terms: tuple[Index, ...]
    swizzle: Swizzle | None = None
    beyond: Index | None = None
    """Index that is added to the address instead of the subscripts."""

    def indices(self) -> Iterator[Index]:
        """Yield all indices that the place is written with."""
        yield from self.terms
        if self.swizzle is not None:
            yield from (self.swizzle.low, self.swizzle.key)
        if self.beyond is not None:
            yield self.beyond

    def stepping(self, step: SSAValue) -> "Place":
        """
        Return the place with the contribution of `step` added to the address instead of the offset,
        if the two can be separated.
        """
        (offset,) = self.terms
        if (parts := offset.apart(step)) is None:
            return self
        rest, beyond = parts
        return self._replace(terms=(rest,), beyond=beyond)


class Strided(NamedTuple):
    """Subscript without its constant, and its stride."""

    subscript: Index
    stride: int


class Subscripts(NamedTuple):
    """Subscripts without their constants, and their strides."""

    exprs: tuple[AffineExpr, ...]
    operands: tuple[SSAValue, ...]
    strides: tuple[int, ...]

    def linear(self) -> Index:
        """Return the offset: the sum of the subscripts times their strides."""
        offset: AffineExpr = AffineExpr.constant(0)
        for expr, stride in zip(self.exprs, self.strides, strict=True):
            offset = offset + expr * stride
        return Index.of(offset, self.operands)

    def apart(self) -> list[Strided]:
        """Return each subscript with its stride."""
        subscripts = [Index.of(expr, self.operands).without_constant() for expr in self.exprs]
        return [Strided(*pair) for pair in zip(subscripts, self.strides, strict=True)]


def strided_axes(
    type: MemRefType[Attribute], subscripts: Sequence[AffineExpr]
) -> list[tuple[AffineExpr, int]]:
    """
    Return the subscripts with their strides in elements. An axis that the layout stores in pieces,
    or whose rows it deals out, gives two subscripts.
    """
    axes = [[axis] for axis in zip(subscripts, _strides(type), strict=True)]
    if inner := layout_of(type).inner.data:
        last = _axis(type, -1)
        whole, rest = subscripts[last] // inner, subscripts[last] % inner
        axes[last] = [(whole, piece_stride(type)), (rest, 1)]
    if deal := layout_of(type).deal.data:
        row = _axis(type, -2)
        pile, within = subscripts[row] % deal, subscripts[row] // deal
        axes[row] = [(pile, pile_stride(type)), (within, _offset_of(type, {row: deal}))]
    return [part for parts in axes for part in parts]


def piece_stride(type: MemRefType[Attribute]) -> int:
    """Return the distance in elements from one piece of the innermost axis to the next."""
    return _offset_of(type, {_axis(type, -1): layout_of(type).inner.data})


def pile_stride(type: MemRefType[Attribute]) -> int:
    """Return the distance in elements from one pile of rows to the next."""
    return _offset_of(type, {_axis(type, -2): 1})


@cache
def _strides(type: MemRefType[Attribute]) -> tuple[int, ...]:
    return tuple(_offset_of(type, {axis: 1}) for axis in range(type.get_num_dims()))


def _axis(type: MemRefType[Attribute], position: int) -> int:
    """
    Return the axis at a position in the order of memory; -1 is the axis whose elements are
    adjacent.
    """
    layout, rank = layout_of(type), type.get_num_dims()
    if layout.has_slots:
        return 1 + layout.axes(rank - 1)[position]
    return layout.axes(rank)[position]


def _offset_of(type: MemRefType[Attribute], point: Mapping[int, int]) -> int:
    """Return the offset of the element at `point`, with subscript 0 along all other axes."""
    exprs = [AffineExpr.constant(point.get(axis, 0)) for axis in range(type.get_num_dims())]
    offset = simplify(layout_of(type).offset(exprs, type))
    assert isinstance(offset, AffineConstantExpr)
    return offset.value


def swizzled(offset: Index, type: MemRefType[Attribute]) -> Place:
    """
    Return the place of the element at `offset`; the offset is that of the layout before the
    swizzle, in elements.
    """
    layout, size = layout_of(type), size_of(type.element_type)
    if not layout.swizzle_bytes.data:
        return Place((offset,))
    chunk, row, span = (n // size for n in (CHUNK_BYTES, ROW_BYTES, layout.swizzle_bytes.data))
    whole = offset.whole()
    key = Index.of((whole // row) % (span // chunk), offset.operands)
    if not key.operands and not key.constant:
        return Place((offset,))
    high, low = _split(whole, offset, span)
    return Place((high,), Swizzle(low, key, chunk, span))


def _split(whole: AffineExpr, offset: Index, span: int) -> tuple[Index, Index]:
    """
    Split the expression `whole` of the index `offset` into `high` and `low`, whose sum it is.
    `high` is a multiple of `span`, so that the swizzle changes only `low`.
    """
    value = sum_of(whole)
    low = Sum({a: c for a, c in value.terms.items() if c % span}, value.constant % span)
    high = value + low * -1
    return Index.of(high.expr(), offset.operands), Index.of(low.expr(), offset.operands)
