# SPDX-License-Identifier: Apache-2.0
"""
Parts of a tensor that is assembled from many others; few of them contribute to each part.

    cat of 40 tensors of 3 elements: 40 alternatives for each of 120 elements

becomes

    elements  0 to 47: 16 alternatives
    elements 48 to 95: 16 alternatives
    elements 96 to 119: 8 alternatives

A part is a box of coordinates. Boxes are cut where the masks of alternatives begin and end. The
first box is as large as `MOST_ALTERNATIVES` allows, and the rest is cut in the same way. A box that
cannot be cut this way, such as the diagonals of a matrix, stays whole.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from tilewright.dialects.index import Range, range_of
from tilewright.dialects.prim.index_map import ranges_within
from tilewright.passes.loop.views import Alternative, Choice, Number, View, Widened

MOST_ALTERNATIVES = 16
"""
Most alternatives that one kernel selects an element from. Selecting from these costs less than
further launches.
"""

Box = tuple[Range, ...]
"""Coordinates of a part: a range for each dimension."""


class Part(NamedTuple):
    """A box of coordinates, and the choice that gives its elements."""

    box: Box
    choice: Choice

    @property
    def extents(self) -> list[int]:
        """Shape of the box."""
        return [known.high - known.low + 1 for known in self.box]


class _Piece(NamedTuple):
    """An alternative, and a box outside of which its mask does not hold."""

    box: Box
    alternative: Alternative


class _Cut(NamedTuple):
    """
    A cut of a box: the first coordinate of its second half, and the number of alternatives of each
    half.
    """

    dim: int
    at: int
    left: int
    right: int


def is_wide(view: View) -> bool:
    """True if an element of the view is selected from more alternatives than one kernel reads."""
    return _width(view) > MOST_ALTERNATIVES


def _width(view: View) -> int:
    if isinstance(view.source, Widened):
        return _width(view.source.view)
    if not isinstance(view.source, Choice):
        return not _is_constant(view)
    return sum(_width(alternative.view) for alternative in view.source.alternatives)


def _is_constant(view: View) -> bool:
    if isinstance(view.source, Widened):
        return _is_constant(view.source.view)
    return isinstance(view.source, Number)


def parts(view: View, shape: Sequence[int]) -> list[Part]:
    """Return parts that cover a tensor of `shape`; none if the tensor has no elements."""
    flat = _flat(view, AffineMap(len(shape), 0, ()))
    pieces = [_Piece(tuple(ranges_within(one.mask, shape)), one) for one in flat]
    whole = tuple(map(Range.extent, shape))
    return [] if 0 in shape else [*_cut_up(whole, pieces)]


def _flat(view: View, mask: AffineMap) -> Iterator[Alternative]:
    """
    Yield the alternatives of `view` where `mask` holds, with nested choices flattened in their
    place.
    """
    if isinstance(wide := view.source, Widened):
        source, map = wide.view
        for one in _flat(View(source, map.compose(view.map)), mask):
            element = Widened(one.view, wide.type)
            yield Alternative(one.mask, View(element, AffineMap.identity(mask.num_dims)))
        return
    if not isinstance(choice := view.source, Choice):
        yield Alternative(mask, view)
        return
    for alternative in choice.alternatives:
        inner = alternative.mask.compose(view.map)
        both = AffineMap(mask.num_dims, 0, (*mask.results, *inner.results))
        source, map = alternative.view
        yield from _flat(View(source, map.compose(view.map)), both)
    if choice.fill is not None:
        yield Alternative(mask, View(choice.fill, AffineMap(mask.num_dims, 0, ())))


def _cut_up(whole: Box, pieces: Sequence[_Piece]) -> Iterator[Part]:
    """Yield the parts of a box, in the order of their coordinates."""
    left = [(whole, pieces)]
    while left:
        box, around = left.pop()
        live = [*_live(box, around)]
        read = [piece for piece in live if not _is_constant(piece.alternative.view)]
        cut = _best_cut(box, read) if len(read) > MOST_ALTERNATIVES else None
        if cut is None:
            yield Part(box, _choice([piece.alternative for piece in live]))
            continue
        dim, low, high = cut.dim, box[cut.dim].low, box[cut.dim].high
        halves = (Range(cut.at, high), Range(low, cut.at - 1))
        left += [((*box[:dim], half, *box[dim + 1 :]), live) for half in halves]


def _choice(alternatives: Sequence[Alternative]) -> Choice:
    """
    Return a choice among `alternatives`; if the last of several is a constant, it becomes the fill
    value.
    """
    *others, last = alternatives
    if others and isinstance(last.view.source, Number):
        return Choice(others, last.view.source)
    return Choice(alternatives, None)


def _live(box: Box, pieces: Sequence[_Piece]) -> Iterator[_Piece]:
    """
    Yield the pieces from which elements of `box` may be read. Their masks lose the conditions that
    hold everywhere in `box`.
    """
    for piece in pieces:
        if not all(a.low <= b.high and b.low <= a.high for a, b in zip(piece.box, box)):
            continue
        bounds = piece.alternative.mask.results
        known = [range_of(bound, box) for bound in bounds]
        if any(bound is not None and bound.high < 0 for bound in known):
            continue
        asked = [b for b, k in zip(bounds, known) if k is None or k.low < 0]
        mask = AffineMap(len(box), 0, tuple(asked))
        yield _Piece(piece.box, Alternative(mask, piece.alternative.view))
        if not asked:
            return


def _best_cut(box: Box, pieces: Sequence[_Piece]) -> _Cut | None:
    """
    Return the cut whose first half has the most alternatives that one kernel can read. If there is
    none, return the cut whose larger half has the fewest. Return None if no cut leaves both halves
    fewer alternatives than the box.
    """
    cuts = [c for dim in range(len(box)) for c in _cuts(dim, box[dim], pieces)]
    cuts = [cut for cut in cuts if max(cut.left, cut.right) < len(pieces)]
    full = [cut for cut in cuts if cut.left <= MOST_ALTERNATIVES]
    if full:
        return max(full, key=lambda cut: (cut.left, -cut.right, -cut.dim, cut.at))
    return min(cuts, key=lambda cut: max(cut.left, cut.right), default=None)


def _cuts(dim: int, extent: Range, pieces: Sequence[_Piece]) -> Iterator[_Cut]:
    """
    Yield the cuts of dimension `dim`, with the range `extent`, at all coordinates where the box of
    a piece begins or has just ended.
    """
    lows = sorted(piece.box[dim].low for piece in pieces)
    highs = sorted(piece.box[dim].high for piece in pieces)
    for at in sorted({*lows, *(high + 1 for high in highs)}):
        if extent.low < at <= extent.high:
            yield _Cut(dim, at, bisect_left(lows, at), len(highs) - bisect_left(highs, at))


def in_steps(part: Part) -> tuple[Part, Sequence[Alternative]]:
    """
    Split off the last alternatives, as many as one kernel reads. Returns a part of these, and the
    earlier alternatives, which take precedence over it.
    """
    alternatives, fill = part.choice
    split = max(len(alternatives) - MOST_ALTERNATIVES, 0)
    return Part(part.box, Choice(alternatives[split:], fill)), alternatives[:split]


def within(buffer: SSAValue, box: Box) -> View:
    """
    Return a view of a buffer that holds only `box`, addressed by the coordinates of the whole
    tensor.
    """
    origin = [AffineExpr.dimension(d) - known.low for d, known in enumerate(box)]
    return View(buffer, AffineMap(len(box), 0, tuple(origin)))
