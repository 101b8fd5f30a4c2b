# SPDX-License-Identifier: Apache-2.0
"""
Tensors put together from views: each element from the first that is to be read there, as in
padding, concatenation and triangles.
"""

from collections.abc import Sequence

from xdsl.ir.affine import AffineExpr, AffineMap

from tilewright.dialects import prim
from tilewright.dialects.element_types import Number, number_attribute
from tilewright.dialects.index import Range, Ranges, range_of, simplify, simplify_map
from tilewright.dialects.prim import Source
from tilewright.dialects.types import shape_of
from tilewright.passes.decompose.tensor import Tensor
from tilewright.passes.decompose.view import Shape, axes_of

Piece = tuple[Tensor, Sequence[AffineExpr]]
"""A view, and expressions of its coordinates that are all at least 0 where it is to be read."""


def overlay(pieces: Sequence[Piece], fill: Number = 0) -> Tensor:
    """
    Return each element from the first of `pieces`, of one shape and type, that is to be read there;
    where none is, `fill`.
    """
    first, _ = pieces[0]
    emit, shape, ranges = first.emit, first.shape, [Range.extent(size) for size in first.shape]
    sources: list[Source] = []
    for view, bounds in pieces:
        mask = _mask(bounds, ranges)
        if 0 in (*shape, *shape_of(view.source)) or mask is None:
            continue
        sources.append(Source(view.source, simplify_map(view.map, ranges), mask))
        if not mask.results:
            break
    if not sources:
        return emit.constant(fill, shape, first.element)
    if not sources[0].mask.results:
        return Tensor(sources[0].tensor, shape, sources[0].map, emit)
    rest = number_attribute(fill, first.element) if sources[-1].mask.results else None
    return emit.result(prim.IndexMapOp(sources, shape, rest))


def _mask(bounds: Sequence[AffineExpr], ranges: Ranges) -> AffineMap | None:
    """Those of `bounds` that say something about coordinates within `ranges`; None: never all."""
    kept: dict[AffineExpr, None] = {}
    for bound in bounds:
        known = range_of(bound, ranges)
        if known is None or known.low < 0:
            kept[simplify(bound, ranges)] = None
        if known is not None and known.high < 0:
            return None
    return AffineMap(len(ranges), 0, tuple(kept))


def masked_view(
    tensor: Tensor,
    coordinates: Sequence[AffineExpr],
    bounds: Sequence[AffineExpr],
    shape: Shape,
    fill: Number,
) -> Tensor:
    """
    Return the tensor of `shape` whose elements are those of `tensor` at `coordinates` where all
    `bounds` are at least 0, and `fill` elsewhere.
    """
    return overlay([(tensor.view(coordinates, shape), bounds)], fill)


def concatenate(tensors: Sequence[Tensor], dim: int) -> Tensor:
    """
    Return the tensors one after another along `dim`; they are alike but for their sizes there.
    """
    first, end, pieces = tensors[0], 0, list[Piece]()
    total = sum(tensor.shape[dim] for tensor in tensors)
    shape = (*first.shape[:dim], total, *first.shape[dim + 1 :])
    axis = AffineExpr.dimension(dim)
    for tensor in tensors:
        start, end = end, end + tensor.shape[dim]
        coordinates = axes_of(len(shape))
        coordinates[dim] = axis - start
        pieces.append((tensor.view(coordinates, shape), [axis - start, axis * -1 + (end - 1)]))
    return overlay(pieces)
