# SPDX-License-Identifier: Apache-2.0
"""
Decompositions of pooling: reductions of a moving window.

    %1 = torch.max_pool1d %0 kernel_size [3] stride [2] padding [1]
        : (tensor<2x4x9xf32>) -> tensor<2x4x5xf32>

becomes

    %w = prim.index_map %0 by affine_map<(d0, d1, d2, d3) -> (d0, d1, d2 * 2 + d3 - 1)>
        where affine_map<(d0, d1, d2, d3) -> (d2 * 2 + d3 - 1, d2 * -2 - d3 + 9)>
        else 0xFF800000 : f32 : tensor<2x4x9xf32> -> tensor<2x4x5x3xf32>
    %1 = prim.reduce max(%w) dims [3] : (tensor<2x4x5x3xf32>) -> tensor<2x4x5xf32>

Windows of unequal lengths are as long as the longest, and masked.
"""

from collections.abc import Sequence

from xdsl.ir import Attribute
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from tilewright.dialects import prim, torch
from tilewright.dialects.element_types import Number
from tilewright.dialects.index import Range, linearize, range_of, simplify
from tilewright.dialects.monoid import Monoid, MonoidAttr
from tilewright.dialects.torch.op import python_value
from tilewright.dialects.torch.windows import AdaptiveWindow, Window
from tilewright.passes.decompose.decomposition import Decomposition, Table
from tilewright.passes.decompose.tensor import Emitter, Tensor
from tilewright.passes.decompose.view import Shape, axes_of
from tilewright.passes.decompose.windows import AnyWindow, ends, windowed

_LAST = 2**63 - 1


def lowest(type: Attribute) -> Number:
    """Return the lowest number of a type: the identity of the maximum."""
    (identity,) = MonoidAttr(Monoid.MAX).identities([type])
    value = python_value(identity)
    assert isinstance(value, int | float)
    return value


def steps_of(tensor: Tensor, windows: Sequence[AnyWindow]) -> range:
    """Return the dimensions of a windowed tensor that are steps of windows."""
    return range(tensor.rank - len(windows), tensor.rank)


class MaxPool(Decomposition[torch.MaxPoolOp]):
    """Decomposition of max pooling: the largest element of each window."""

    def decompose(self, op: torch.MaxPoolOp, emit: Emitter) -> Tensor:
        windows = op.windows()
        seen = windowed(emit(op.input), windows, lowest(emit.type))
        return seen.max(steps_of(seen, windows))


class MaxPoolWithIndices(Decomposition[torch.MaxPoolWithIndicesOp | torch.AdaptiveMaxPoolOp]):
    """
    Decomposition of max pooling with indices: the largest element of each window, and its
    row-major position in the pooled dimensions.
    """

    def decompose(
        self, op: torch.MaxPoolWithIndicesOp | torch.AdaptiveMaxPoolOp, emit: Emitter
    ) -> Sequence[Tensor]:
        windows, input = op.windows(), emit(op.input)
        seen = windowed(input, windows, lowest(emit.type))
        plane = linearize(axes_of(input.rank)[-len(windows) :], input.shape[-len(windows) :])
        # Padding has the largest index, so that it never wins among equal elements.
        indices = windowed(emit.positions(plane, input.shape), windows, _LAST)
        if not seen.is_float:
            return self.largest(seen, indices, windows)
        # PyTorch returns the last of several NaN, and arg-reductions the first: count backwards.
        indices = seen.is_nan().where(-1 - indices, indices)
        values, found = self.largest(seen, indices, windows)
        return values, found.maximum(-1 - found)

    def largest(
        self, seen: Tensor, indices: Tensor, windows: Sequence[AnyWindow]
    ) -> tuple[Tensor, Tensor]:
        """Return the largest element of each window, and its index."""
        pairs, dims = [seen.value, indices.value], steps_of(seen, windows)
        op = seen.emit.add(prim.ReduceOp(MonoidAttr(Monoid.ARGMAX), pairs, dims))
        return seen.emit.stored(op.results[0]), seen.emit.stored(op.results[1])


def mean(
    input: Tensor, windows: Sequence[Window | AdaptiveWindow], counted: Sequence[Range]
) -> Tensor:
    """Return the sum of each window, divided by the number of its elements within `counted`."""
    seen = windowed(input, windows, 0)
    total, number = seen.sum(steps_of(seen, windows)), _lengths(input.emit, windows, counted)
    return total / (number if isinstance(number, int) else number.cast(input.element))


_Length = Tensor | int
"""Tensor of i64 with a number for each position, or one number for all."""


def _lengths(
    emit: Emitter, windows: Sequence[Window | AdaptiveWindow], counted: Sequence[Range]
) -> _Length:
    """
    Return the number of elements that a moving window has at each position, by which a mean is
    divided. One window moves along each dimension. Only elements within `counted` count.

    A window of 3 elements that moves by 2 over 9 elements, padded by 1, has

        min(2 * i + 2, 9) - max(2 * i - 1, 0)

    elements at position `i`. An end is limited only if it leaves the counted range.
    """
    shape = tuple(window.positions for window in windows)
    number: _Length = 1
    for window, position, range in zip(windows, axes_of(len(windows)), counted, strict=True):
        length = _length(emit, *ends(window, position), range, shape)
        number = length if number == 1 else number * length
    return number


def _length(
    emit: Emitter, first: AffineExpr, last: AffineExpr, counted: Range, shape: Shape
) -> _Length:
    ranges = [Range.extent(size) for size in shape]
    lowest, highest = range_of(first, ranges), range_of(last, ranges)
    assert lowest is not None
    assert highest is not None
    if lowest.low >= counted.low and highest.high <= counted.high:
        length = simplify(last - first + 1, ranges)
        is_same = isinstance(length, AffineConstantExpr)
        return length.value if is_same else emit.positions(length, shape)
    start, end = emit.positions(first, shape), emit.positions(last + 1, shape)
    if lowest.low < counted.low:
        start = start.maximum(counted.low)
    if highest.high > counted.high:
        end = end.minimum(counted.high + 1)
    return end - start


class AvgPool(Decomposition[torch.AvgPoolOp]):
    """Decomposition of average pooling: the mean of each window."""

    def decompose(self, op: torch.AvgPoolOp, emit: Emitter) -> Tensor:
        input, windows = emit(op.input), op.windows()
        if divisor := op.divisor():
            seen = windowed(input, windows, 0)
            return seen.sum(steps_of(seen, windows)) / divisor
        if op.count_include_pad.value.data:
            # Elements of the padding count, but the last window may extend beyond the padding.
            return mean(input, windows, [Range(-w.padding, w.size + w.high - 1) for w in windows])
        return mean(input, windows, [Range.extent(window.size) for window in windows])


class AdaptiveAvgPool(Decomposition[torch.AdaptiveAvgPoolOp]):
    """
    Decomposition of adaptive average pooling: the mean of each window; windows have unequal
    lengths.
    """

    def decompose(self, op: torch.AdaptiveAvgPoolOp, emit: Emitter) -> Tensor:
        windows = op.windows()
        return mean(emit(op.input), windows, [Range.extent(window.size) for window in windows])


PATTERNS: Table = {
    **dict.fromkeys((torch.MaxPool1dOp, torch.MaxPool2dOp, torch.MaxPool3dOp), MaxPool()),
    **dict.fromkeys(
        (
            torch.MaxPool1dWithIndicesOp,
            torch.MaxPool2dWithIndicesOp,
            torch.MaxPool3dWithIndicesOp,
            torch.AdaptiveMaxPool1dOp,
            torch.AdaptiveMaxPool2dOp,
            torch.AdaptiveMaxPool3dOp,
        ),
        MaxPoolWithIndices(),
    ),
    **dict.fromkeys((torch.AvgPool1dOp, torch.AvgPool2dOp, torch.AvgPool3dOp), AvgPool()),
    **dict.fromkeys(
        (
            torch.AdaptiveAvgPool1dOp,
            torch.AdaptiveAvgPool2dOp,
            torch.AdaptiveAvgPool3dOp,
            torch.CoreAdaptiveAvgPool2dOp,
            torch.CoreAdaptiveAvgPool3dOp,
        ),
        AdaptiveAvgPool(),
    ),
}
