# SPDX-License-Identifier: Apache-2.0
"""
Addresses of the rows that `ldmatrix` loads, in parts that NVRTC can turn into constants.

    &s[slot * 8192 + i * 1024 + lane % 16 * 64 + ((k * 16 + lane / 16 * 8) ^ (lane % 8 * 8))]

becomes, for elements of 2 bytes,

    const int s_row = shared_address(&s[lane % 16 * 64 + ((lane / 16 * 8) ^ (lane % 8 * 8))]);
    ...
    (s_row ^ (k * 32)) + slot * 16384 + i * 2048

The first line is ahead of all loops. If the loops over `k` and `i` are unrolled, an address takes
at most one instruction; it takes none if slots are constants too. The sum in the swizzle is an xor,
because its terms have no bits in common. The xor comes first, because all parts that are added
later are multiples of the span of the swizzle.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from xdsl.dialects import scf
from xdsl.ir import Block, BlockArgument, SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects.index import Ranges, Sum, range_of, sum_of
from tilewright.dialects.kernel.registers import UNROLL, UnrollOp
from tilewright.passes.cuda.index import Index
from tilewright.passes.cuda.places import Place, Swizzle
from tilewright.passes.cuda.writer import block_of


class RowAddress(NamedTuple):
    """
    Address of a row: `(early ^ flipped) + moved + stepped`, with a late swizzle added. All parts
    but the first and the last count bytes.
    """

    early: Place
    """Part whose operands are known before all loops."""
    moved: Index
    """Part that varies in loops."""
    flipped: Index
    """Part inside the span of the swizzle that varies in loops."""
    stepped: Index
    """Part that becomes a constant when loops are unrolled."""
    swizzle: Swizzle | None
    """Swizzle, in elements, if it cannot be separated into early and flipped bits."""

    def indices(self) -> Iterator[Index]:
        """Yield all indices that the address is written with."""
        yield from self.early.indices()
        yield from (self.moved, self.flipped, self.stepped)
        if self.swizzle is not None:
            yield from (self.swizzle.low, self.swizzle.key)


class RowStart(NamedTuple):
    """Early part of the addresses of rows of an array, which gets a name."""

    memref: SSAValue
    place: Place

    @property
    def operands(self) -> tuple[SSAValue, ...]:
        """Values on which the address depends."""
        return (self.memref, *(v for index in self.place.indices() for v in index.operands))


_ZERO = Index(AffineExpr.constant(0), ())


def row_address(place: Place, size: int, body: Block) -> RowAddress:
    """
    Return the address of a row at `place` in shared memory, with elements of `size` bytes, in a
    kernel with the given body.
    """

    def is_early(value: SSAValue) -> bool:
        return block_of(value) is body

    (offset,) = place.terms
    early, late = _parts(offset, is_early)
    moved, stepped = _parts(late, lambda value: not _is_unrolled(value))
    start, flipped, swizzle = Place((early,)), _ZERO, place.swizzle
    if swizzle is not None and (parts := _bits(swizzle, is_early)) is not None:
        low, flipped = parts
        start, swizzle = Place((early,), swizzle._replace(low=low)), None
    moved, flipped, stepped = (_times(part, size) for part in (moved, flipped, stepped))
    return RowAddress(start, moved, flipped, stepped, swizzle)


def _is_unrolled(value: SSAValue) -> bool:
    """True if a value is the counter of an unrolled loop or an axis of an unrolled nest."""
    loop = value.owner.parent_op() if isinstance(value, BlockArgument) else None
    return isinstance(loop, UnrollOp) or (isinstance(loop, scf.ForOp) and UNROLL in loop.attributes)


def _parts(index: Index, takes: Callable[[SSAValue], bool]) -> tuple[Index, Index]:
    """
    Return the sum of the terms all of whose operands `takes` accepts, and the sum of the other
    terms, with the constant.
    """
    taken, rest = dict[AffineExpr, int](), dict[AffineExpr, int]()
    for atom, factor in sum_of(index.variable).terms.items():
        is_taken = all(takes(index.operands[dim]) for dim in atom.used_dims())
        (taken if is_taken else rest)[atom] = factor
    return (
        Index.of(Sum(taken).expr(), index.operands),
        Index.of(Sum(rest, index.constant).expr(), index.operands),
    )


def _bits(swizzle: Swizzle, is_early: Callable[[SSAValue], bool]) -> tuple[Index, Index] | None:
    """
    Return the early and the late part of the permuted offset, or None unless the key is early and
    the two parts have no bits in common. The late part must be inside the span of the swizzle.
    """
    if not all(map(is_early, swizzle.key.operands)):
        return None
    early, late = _parts(swizzle.low, is_early)
    ranges = late.ranges
    bits, others = _bits_of(late, ranges), _bits_of(early, early.ranges)
    if bits is None or others is None or bits & others or bits >= swizzle.span:
        return None
    return early, late


def _bits_of(index: Index, ranges: Ranges) -> int | None:
    """
    Return a mask of the bits that may be set in an index, or None if terms of the sum share bits or
    may be negative.
    """
    found = index.constant
    if found < 0:
        return None
    for atom, factor in sum_of(index.variable, ranges).terms.items():
        known = range_of(atom, ranges)
        if known is None or known.low < 0 or factor < 0:
            return None
        lowest, end = factor & -factor, 1 << (known.high * factor).bit_length()
        bits = max(end - lowest, 0)
        if found & bits:
            return None
        found |= bits
    return found


def _times(index: Index, size: int) -> Index:
    return Index.of(index.whole() * size, index.operands)
