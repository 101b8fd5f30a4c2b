# SPDX-License-Identifier: Apache-2.0
"""
Tensors that are put together from views, for padding, concatenation and triangles. Each element
comes from the first view that is defined there.
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
"""View, and expressions of its coordinates that are all at least 0 where it is read."""


def overlay(pieces: Sequence[Piece], fill: Number = 0) -> Tensor:
    """
    Return a tensor whose elements come from the first of `pieces` that is read there, or are `fill`
    if none is. All pieces have the same shape and type.
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
    """
    Return the mask of those `bounds` that may fail within `ranges`, or None if they never all hold.
    """
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
    Return the tensor of shape `shape` whose elements are those of `tensor` at `coordinates` where
    all `bounds` are at least 0, and `fill` elsewhere.
    """
    return overlay([(tensor.view(coordinates, shape), bounds)], fill)


def concatenate(tensors: Sequence[Tensor], dim: int) -> Tensor:
    """Return the tensors one after another along `dim`; their other sizes are equal."""
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
