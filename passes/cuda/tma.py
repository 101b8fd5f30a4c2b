# SPDX-License-Identifier: Apache-2.0
"""
Copies of boxes by the tensor memory accelerator. A slab that is stored in pieces of its innermost
axis is copied piece by piece; one whose rows are dealt out, pile by pile: of the tensor each row is
two coordinates then, and the rows of a pile differ in the first alone.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import product

from xdsl.ir import SSAValue

from tilewright.dialects import kernel
from tilewright.dialects.cuda.copies import AddressOp
from tilewright.dialects.cuda.threads import PerformOp
from tilewright.dialects.kernel.boxes import box_pieces
from tilewright.dialects.tile.layout import layout_of
from tilewright.dialects.types import memref_type
from tilewright.passes.cuda.conversion import Conversion
from tilewright.passes.cuda.index import Index
from tilewright.passes.cuda.places import piece_stride, pile_stride


def tma_copies(to: Conversion, op: kernel.TmaCopyOp, full: Callable[[], SSAValue]) -> None:
    """Begin the copies; `full` writes the barrier that learns of them."""
    source, target = to.accesses.places[op]
    (start,) = target.terms
    map, slab = to.tensor_maps[op], to.writer.use(op.target)
    for at, coordinates in _boxes(op, source.terms):
        arguments = [
            AddressOp(slab, [to.indices.value(_plus(start, at))]).result,
            map,
            *[to.indices.value(coordinate) for coordinate in reversed(coordinates)],
            full(),
        ]
        to.writer.statement(PerformOp(f"tma_copy_{len(coordinates)}d", arguments))


def _boxes(op: kernel.TmaCopyOp, starts: Sequence[Index]) -> Iterator[tuple[int, list[Index]]]:
    """For each box of the hardware: where it goes in the slot, and where it is in the tensor."""
    type, extents = memref_type(op.target), [*op.box.get_values()]
    layout = layout_of(type)
    row = box_pieces(memref_type(op.source).get_shape(), extents, layout).row
    inner, deal = layout.inner.data, 1 if row is None else layout.deal.data
    for piece, pile in product(range(extents[-1] // inner if inner else 1), range(deal)):
        at = piece * piece_stride(type) + (pile * pile_stride(type) if pile else 0)
        coordinates = [*starts[:-1], _plus(starts[-1], piece * inner)]
        if row is not None:
            coordinates[row : row + 1] = _in_pile(_plus(starts[row], pile), deal)
        yield at, coordinates


def _in_pile(row: Index, deal: int) -> list[Index]:
    """Which of the rows of its pile a row is, and the pile."""
    whole = row.whole()
    return [Index.of(each, row.operands) for each in (whole // deal, whole % deal)]


def _plus(index: Index, constant: int) -> Index:
    return index._replace(constant=index.constant + constant)
