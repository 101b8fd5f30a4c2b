# SPDX-License-Identifier: Apache-2.0
"""
Elements that a moving window covers: one for each of its steps, at each of its positions.

A step outside of the tensor is masked, and reads a fill value. There is no mask if all steps stay
inside.
"""

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.ir.affine import AffineExpr

from tilewright.dialects.element_types import Number
from tilewright.dialects.index import Range, range_of, simplify
from tilewright.dialects.torch.windows import AdaptiveWindow, TransposedWindow, Window
from tilewright.passes.decompose.overlay import masked_view
from tilewright.passes.decompose.tensor import Tensor
from tilewright.passes.decompose.view import Shape, axes_of

AnyWindow = Window | TransposedWindow | AdaptiveWindow


class Place(NamedTuple):
    """Element that a step of a window reads; it exists where all `bounds` are at least 0."""

    element: AffineExpr
    bounds: Sequence[AffineExpr]


def place(window: AnyWindow, position: AffineExpr, step: AffineExpr) -> Place:
    """Return the element that a step of the window reads at a position, with its bounds."""
    match window:
        case Window():
            element = position * window.stride + step * window.dilation - window.padding
            return Place(element, [element, element * -1 + (window.size - 1)])
        case TransposedWindow():
            distance = position + window.padding - step * window.dilation
            element = distance // window.stride
            is_multiple = (distance % window.stride) * -1
            return Place(element, [element, element * -1 + (window.size - 1), is_multiple])
        case AdaptiveWindow():
            first, last = ends(window, position)
            return Place(first + step, [last - (first + step)])


def ends(window: Window | AdaptiveWindow, position: AffineExpr) -> tuple[AffineExpr, AffineExpr]:
    """Return the first and the last element of the window at a position."""
    if isinstance(window, Window):
        first = position * window.stride - window.padding
        return first, first + (window.steps - 1) * window.dilation
    parts = max(window.positions, 1)
    end = ((position + 1) * window.size + (parts - 1)) // parts
    return position * window.size // parts, end - 1


def places(windows: Sequence[AnyWindow], rank: int) -> list[Place]:
    """
    Return the places of all windows in a domain of `rank` dimensions. The last dimensions are the
    positions of the windows, followed by their steps.
    """
    dims, count = axes_of(rank), len(windows)
    positions, steps = dims[rank - 2 * count : rank - count], dims[rank - count :]
    return [place(*of_dim) for of_dim in zip(windows, positions, steps, strict=True)]


def open_bounds(bounds: Sequence[AffineExpr], shape: Shape) -> list[AffineExpr]:
    """Return the bounds that may be below 0 within `shape`, simplified."""
    ranges = [Range.extent(size) for size in shape]
    known = [(simplify(bound, ranges), range_of(bound, ranges)) for bound in bounds]
    return [bound for bound, range in known if range is None or range.low < 0]


def masked(
    tensor: Tensor,
    coordinates: Sequence[AffineExpr],
    bounds: Sequence[AffineExpr],
    shape: Shape,
    fill: Number,
) -> Tensor:
    """Return a `masked_view`, or a plain view if no bound is ever below 0."""
    needed = open_bounds(bounds, shape)
    if not needed:
        return tensor.view(coordinates, shape)
    ranges = [Range.extent(size) for size in shape]
    simplified = [simplify(expr, ranges) for expr in coordinates]
    return masked_view(tensor, simplified, needed, shape, fill)


def windowed(tensor: Tensor, windows: Sequence[AnyWindow], fill: Number) -> Tensor:
    """
    Return a view of `tensor` in which positions of windows, followed by steps of windows, replace
    the last dimensions.
    """
    kept = tensor.shape[: tensor.rank - len(windows)]
    shape = (*kept, *(w.positions for w in windows), *(w.steps for w in windows))
    looked_at = places(windows, len(shape))
    coordinates = [*axes_of(len(kept)), *(place.element for place in looked_at)]
    return masked(tensor, coordinates, [b for p in looked_at for b in p.bounds], shape, fill)
