# SPDX-License-Identifier: Apache-2.0
"""
Resizing: where each element of the result is read, and what it weighs.

    %1 = torch.upsample_nearest1d %0 output_size [6] : (tensor<1x1x4xf32>) -> tensor<1x1x6xf32>

becomes

    %1 = prim.index_map %0 by affine_map<(d0, d1, d2) -> (d0, d1, ((d2 * 2) floordiv 3))>
        : tensor<1x1x4xf32> -> tensor<1x1x6xf32>

PyTorch computes subscripts in float32, and rounding is part of what it computes. They are therefore
computed here, in the same steps; where all of an axis are an affine function of the coordinate they
become one, and else the program computes them, by the same steps once more, and gathers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from struct import pack, unpack

from xdsl.dialects.builtin import f32, f64, i64
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from tilewright.dialects import torch
from tilewright.dialects.prim import ScalarFunction
from tilewright.dialects.torch.resizing import ResizeOp
from tilewright.dialects.types import shape_of
from tilewright.passes.decompose.decomposition import Decomposition, Table
from tilewright.passes.decompose.elementwise import elementwise
from tilewright.passes.decompose.subscripts import gather
from tilewright.passes.decompose.tensor import Emitter, Tensor
from tilewright.passes.decompose.view import Shape

Subscript = Tensor | AffineExpr
"""Where an axis is read: data along that axis, or an expression of the coordinates."""

_LARGEST_DENOMINATOR = 64
"""Of the ratios that a scale factor is taken for; the table of subscripts has the last word."""

_LARGEST_TABLE = 1 << 20
"""Number of coordinates up to which subscripts are compared with an expression one by one."""


def _float32(value: float) -> float:
    (rounded,) = unpack("f", pack("f", value))
    return rounded


@dataclass(frozen=True)
class Axis:
    """An axis that is resized, and the steps in which PyTorch computes where it is read."""

    emit: Emitter
    dim: int
    rank: int
    input: int
    output: int
    factor: float | None
    """By how much it grows, if that is given rather than to be computed."""

    def rounded(self, value: float) -> float:
        """As PyTorch holds a coordinate: in float32, or in float64 if that is resized."""
        return value if self.emit.type == f64 else _float32(value)

    def step(self, align_corners: bool = False) -> float:
        """By how much the source moves for one step of the result."""
        if align_corners:
            return self.rounded((self.input - 1) / max(self.output - 1, 1)) * (self.output > 1)
        if self.factor is not None and self.factor > 0:
            return self.rounded(1.0 / self.factor)
        return self.rounded(self.input / self.output)

    def along(self, tensor: Tensor) -> Tensor:
        """Return a vector as one along this axis."""
        return tensor.unsqueeze(range(1, self.rank - self.dim))

    def coordinate(self, offset: float = 0.0) -> Tensor:
        """Return the coordinates of the result, in the type that sources are computed in."""
        type = f64 if self.emit.type == f64 else f32
        numbers = self.emit.iota((self.output,), 0).cast(type)
        return numbers + offset if offset else numbers

    def affine(self, table: Sequence[int], *ratios: tuple[int, int, int]) -> AffineExpr | None:
        """`(coordinate * a + b) floordiv c`, for a triple of `ratios`, if that is the table."""
        for a, b, c in ((1, 0, 1), (0, table[0], 1), *ratios):
            if all((i * a + b) // c == subscript for i, subscript in enumerate(table)):
                expr = AffineDimExpr(self.dim) * a + b
                return expr if c == 1 else expr // c
        return None


def floored(source: Tensor) -> Tensor:
    """PyTorch rounds down in float32, even what it computed in float64."""
    return elementwise(ScalarFunction.FLOOR, source.cast(f32))


def read_at(input: Tensor, subscripts: Sequence[Subscript], shape: Shape) -> Tensor:
    """Return the elements at `subscripts`: a view if none are data."""
    exprs = [subscript for subscript in subscripts if isinstance(subscript, AffineExpr)]
    if len(exprs) == len(subscripts):
        return input.view(exprs, shape)
    return gather(input, subscripts, shape)


def resized_axes(op: ResizeOp, emit: Emitter) -> list[Axis]:
    """Return the axes behind batch and channels."""
    sizes = zip(shape_of(op.input)[2:], op.sizes(), op.factors(), strict=True)
    return [
        Axis(emit, dim, op.DIMS + 2, input, output, factor)
        for dim, (input, output, factor) in enumerate(sizes, start=2)
    ]


class Nearest(Decomposition[ResizeOp]):
    """
    Element `min(floor((i + offset) * step), size - 1)`.

    PyTorch's kernels for images with few columns, and for channels last, take another way when
    the size doubles or stays while a scale says otherwise; this is that of all others.
    """

    def __init__(self, offset: float = 0.0):
        self.offset = offset

    def decompose(self, op: ResizeOp, emit: Emitter) -> Tensor:
        read: list[Subscript] = [self.subscript(axis) for axis in resized_axes(op, emit)]
        batch = [AffineDimExpr(0), AffineDimExpr(1)]
        return read_at(emit.stored(op.input), [*batch, *read], op.result_shape())

    def subscript(self, axis: Axis) -> Subscript:
        """Where an axis is read."""
        if axis.output > _LARGEST_TABLE:
            return self.source(axis)
        step, twice, last = axis.step(), int(2 * self.offset), axis.input - 1
        sources = [axis.rounded((i + self.offset) * step) for i in range(axis.output)]
        table = [min(floor(_float32(source)), last) for source in sources]
        ratios = [Fraction(axis.input, axis.output)]
        ratios += [Fraction(step).limit_denominator(_LARGEST_DENOMINATOR)]
        halves = [(2 * r.numerator, twice * r.numerator, 2 * r.denominator) for r in ratios]
        wholes = [(r.numerator, 0, r.denominator) for r in ratios]
        expr = axis.affine(table, *(halves if self.offset else wholes))
        return self.source(axis) if expr is None else expr

    def source(self, axis: Axis) -> Tensor:
        """Return the subscript as data, which is computed in the kernel."""
        source = floored(axis.coordinate(self.offset) * axis.step())
        return axis.along(source.minimum(axis.input - 1).cast(i64))


PATTERNS: Table = {
    **dict.fromkeys(
        (
            torch.UpsampleNearest1dOp,
            torch.UpsampleNearest1dVecOp,
            torch.UpsampleNearest2dOp,
            torch.UpsampleNearest2dVecOp,
            torch.UpsampleNearest3dOp,
            torch.UpsampleNearest3dVecOp,
        ),
        Nearest(),
    ),
    **dict.fromkeys(
        (
            torch.UpsampleNearestExact1dOp,
            torch.UpsampleNearestExact1dVecOp,
            torch.UpsampleNearestExact2dOp,
            torch.UpsampleNearestExact2dVecOp,
            torch.UpsampleNearestExact3dOp,
            torch.UpsampleNearestExact3dVecOp,
        ),
        Nearest(offset=0.5),
    ),
}
