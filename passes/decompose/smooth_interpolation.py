# SPDX-License-Identifier: Apache-2.0
"""
Decompositions of resizing by weighted sums of nearby elements.

    %1 = torch.upsample_linear1d %0 output_size [7] align_corners false
        : (tensor<1x1x4xf32>) -> tensor<1x1x7xf32>

becomes, with the coordinates `i` of the result as f32,

    %source = maximum((i + 0.5) * (4 / 7) - 0.5, 0)
    %first = minimum(floor(%source), 3)
    %fraction = %source - %first
    %1 = (1 - %fraction) * %0[%first] + %fraction * %0[minimum(%first + 1, 3)]
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import i64
from xdsl.ir.affine import AffineDimExpr

from tilewright.dialects import torch
from tilewright.dialects.torch.op import python_value
from tilewright.dialects.torch.resizing import SmoothResizeOp
from tilewright.passes.decompose.decomposition import Decomposition, Table
from tilewright.passes.decompose.interpolation import (
    Axis,
    Subscript,
    floored,
    read_at,
    resized_axes,
)
from tilewright.passes.decompose.tensor import Emitter, Tensor
from tilewright.passes.decompose.view import Shape

Tap = tuple[Subscript, Tensor]
"""Element that is read along an axis, and its weight."""


@dataclass(frozen=True)
class _Source:
    """Position of each result between the elements of an axis."""

    axis: Axis
    first: Tensor
    """Element at or before the position, a whole number."""
    fraction: Tensor
    """Distance of the position from that element, from 0 to 1."""

    @staticmethod
    def of(axis: Axis, align_corners: bool, least: float | None) -> "_Source":
        """
        Return the source position of each result along an axis; positions below `least` become
        `least`.
        """
        step = axis.step(align_corners)
        if align_corners:
            source = axis.coordinate() * step
        else:
            source = axis.coordinate(0.5) * step - 0.5
        if least is not None:
            source = source.maximum(least)
        first = floored(source).minimum(axis.input - 1).cast(source.element)
        return _Source(axis, first, (source - first).maximum(0).minimum(1))

    def subscript(self, offset: int) -> Tensor:
        """Return the subscript at a distance from the first element, limited to the edges."""
        moved = self.first.cast(i64) + offset if offset else self.first.cast(i64)
        if offset < 1:
            moved = moved.maximum(0)
        return self.axis.along(moved.minimum(self.axis.input - 1) if offset > 0 else moved)

    def tap(self, offset: int, weight: Tensor) -> Tap:
        """Return the element at a distance from the first element, and its weight."""
        return self.subscript(offset), self.axis.along(weight)


def linear_taps(axis: Axis, align_corners: bool) -> list[Tap]:
    """Return the two elements around each result, with weights by distance."""
    if axis.input == axis.output:  # the weight 0 still matters if the second element is infinite
        itself, emit = AffineDimExpr(axis.dim), axis.emit
        return [(itself, emit.constant(1, ())), (itself, emit.constant(0, ()))]
    source = _Source.of(axis, align_corners, least=0)
    return [source.tap(0, 1 - source.fraction), source.tap(1, source.fraction)]


def cubic_taps(axis: Axis, align_corners: bool) -> list[Tap]:
    """
    Return two elements on either side of each result; elements beyond an edge become the edge.
    """
    source = _Source.of(axis, align_corners, least=None)
    near, far = source.fraction, 1 - source.fraction
    return [
        source.tap(-1, _far_weight(near + 1)),
        source.tap(0, _near_weight(near)),
        source.tap(1, _near_weight(far)),
        source.tap(2, _far_weight(far + 1)),
    ]


_A = -0.75
"""Parameter of the cubic function, as PyTorch chooses it."""


def _near_weight(x: Tensor) -> Tensor:
    """Return the cubic function for distances up to 1."""
    return (x * (_A + 2) - (_A + 3)) * x * x + 1


def _far_weight(x: Tensor) -> Tensor:
    """Return the cubic function for distances from 1 to 2."""
    return ((x * _A - 5 * _A) * x + 8 * _A) * x - 4 * _A


class Smooth(Decomposition[SmoothResizeOp]):
    """
    Decomposition of smooth resizing: sums of weighted nearby elements, along one axis after the
    other, the last axis first.
    """

    def __init__(self, taps: Callable[[Axis, bool], list[Tap]]):
        self.taps = taps

    def decompose(self, op: SmoothResizeOp, emit: Emitter) -> Tensor:
        aligned = bool(python_value(op.align_corners))
        shape = op.result_shape()
        taps = [
            [(_spread(subscript, shape), weight) for subscript, weight in self.taps(axis, aligned)]
            for axis in resized_axes(op, emit)
        ]
        batch: list[Subscript] = [AffineDimExpr(0), AffineDimExpr(1)]
        return _weighted(emit(op.input), batch, taps, shape)


def _spread(subscript: Subscript, shape: Shape) -> Subscript:
    """Return a subscript with its data repeated to `shape`, once for all reads that use it."""
    if not isinstance(subscript, Tensor):
        return subscript
    return subscript.emit.stored(subscript.broadcast(shape).value)


def _weighted(
    input: Tensor, subscripts: list[Subscript], taps: Sequence[list[Tap]], shape: Shape
) -> Tensor:
    """
    Return the weighted sum over the axes of `taps`; `subscripts` are those of the axes before them.
    """
    if not taps:
        return read_at(input, subscripts, shape)
    terms = [
        _weighted(input, [*subscripts, subscript], taps[1:], shape) * weight
        for subscript, weight in taps[0]
    ]
    total, *rest = terms
    for term in rest:
        total += term
    return total


PATTERNS: Table = {
    **dict.fromkeys(
        (
            torch.UpsampleLinear1dOp,
            torch.UpsampleLinear1dVecOp,
            torch.UpsampleBilinear2dOp,
            torch.UpsampleBilinear2dVecOp,
            torch.UpsampleTrilinear3dOp,
            torch.UpsampleTrilinear3dVecOp,
        ),
        Smooth(linear_taps),
    ),
    torch.UpsampleBicubic2dOp: Smooth(cubic_taps),
    torch.UpsampleBicubic2dVecOp: Smooth(cubic_taps),
}
