# SPDX-License-Identifier: Apache-2.0
"""
How many elements a moving window has at each of its positions, where those beyond an edge do not
count: what a mean is divided by.

A window of 3 elements that moves by 2 over 9 elements, padded by 1, has

    min(2 * i + 2, 9) - max(2 * i - 1, 0)

elements at position `i`. Only an end that leaves the edges is cut.
"""

from collections.abc import Sequence

from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from tilewright.dialects.index import Range, range_of, simplify
from tilewright.dialects.torch.windows import AdaptiveWindow, Window
from tilewright.passes.decompose.tensor import Emitter, Tensor
from tilewright.passes.decompose.view import Shape, axes_of
from tilewright.passes.decompose.windows import ends

Length = Tensor | int
"""An i64 for each position, or the same number for all."""


def lengths(
    emit: Emitter, windows: Sequence[Window | AdaptiveWindow], counted: Sequence[Range]
) -> Length:
    """
    Elements of each window, of which one moves along each dimension; in a dimension those count
    that are within the range of `counted`.
    """
    shape = tuple(window.positions for window in windows)
    number: Length = 1
    for window, position, range in zip(windows, axes_of(len(windows)), counted, strict=True):
        length = _length(emit, *ends(window, position), range, shape)
        number = length if number == 1 else number * length
    return number


def _length(
    emit: Emitter, first: AffineExpr, last: AffineExpr, counted: Range, shape: Shape
) -> Length:
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
