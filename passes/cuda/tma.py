# SPDX-License-Identifier: Apache-2.0
"""
Copies of boxes by the tensor memory accelerator (TMA).

A slab in pieces of its innermost axis is one copy if the tensor map has an axis of pieces.
Otherwise, each piece is a copy. A slab whose rows are dealt out is copied pile by pile. Each row of
the tensor then has two coordinates, and the rows of a pile differ only in the first.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import product

from xdsl.ir import SSAValue

from tilewright.dialects import kernel
from tilewright.dialects.cuda.copies import AddressOp
from tilewright.dialects.cuda.threads import PerformOp
from tilewright.dialects.kernel.boxes import Pieces
from tilewright.dialects.tile.layout import layout_of
from tilewright.dialects.types import memref_type
from tilewright.passes.cuda.conversion import Conversion
from tilewright.passes.cuda.index import Index
from tilewright.passes.cuda.places import piece_stride, pile_stride


def tma_copies(to: Conversion, op: kernel.TmaCopyOp, full: Callable[[], SSAValue]) -> None:
    """Begin the copies of a box; `full` returns the mbarrier on which they arrive."""
    source, target = to.accesses.places[op]
    (start,) = target.terms
    map, slab = to.tensor_maps[op], to.writer.use(op.target)
    for at, coordinates in _boxes(op, to.accesses.boxes[op], source.terms):
        arguments = [
            AddressOp(slab, [to.indices.value(_plus(start, at))]).result,
            map,
            *[to.indices.value(coordinate) for coordinate in reversed(coordinates)],
            full(),
        ]
        to.writer.statement(PerformOp(f"tma_copy_{len(coordinates)}d", arguments))


def _boxes(
    op: kernel.TmaCopyOp, pieces: Pieces, starts: Sequence[Index]
) -> Iterator[tuple[int, list[Index]]]:
    """
    Yield for each copy by the hardware its offset in the slot and its coordinates in the tensor.
    """
    if pieces.is_whole:
        yield 0, [*starts]
        return
    type, extents, row = memref_type(op.target), op.box.get_values(), pieces.row
    layout = layout_of(type)
    inner, deal = layout.inner.data, 1 if row is None else layout.deal.data
    for piece, pile in product(range(extents[-1] // inner if inner else 1), range(deal)):
        at = piece * piece_stride(type) + (pile * pile_stride(type) if pile else 0)
        coordinates = [*starts[:-1], _plus(starts[-1], piece * inner)]
        if row is not None:
            coordinates[row : row + 1] = _in_pile(_plus(starts[row], pile), deal)
        yield at, coordinates


def _in_pile(row: Index, deal: int) -> list[Index]:
    """
    Return both coordinates of a row: its position within its pile, and the number of the pile.
    """
    whole = row.whole()
    return [Index.of(each, row.operands) for each in (whole // deal, whole % deal)]


def _plus(index: Index, constant: int) -> Index:
    return index._replace(constant=index.constant + constant)
