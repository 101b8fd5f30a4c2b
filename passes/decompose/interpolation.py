# SPDX-License-Identifier: Apache-2.0
"""
Decompositions of nearest resizing, and the source coordinates of all resizing.

    %1 = torch.upsample_nearest1d %0 output_size [6] : (tensor<1x1x4xf32>) -> tensor<1x1x6xf32>

becomes

    %1 = prim.index_map %0 by affine_map<(d0, d1, d2) -> (d0, d1, ((d2 * 2) floordiv 3))>
        : tensor<1x1x4xf32> -> tensor<1x1x6xf32>

PyTorch computes subscripts in float32, and its rounding is part of the result. The subscripts are
therefore computed here, in the same steps. If all subscripts of an axis are an affine function of
the coordinate, they become that function. Otherwise the program computes the subscripts as data in
the same steps, and gathers the elements.
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
"""Subscript of an axis: data along that axis, or an expression of the coordinates."""

_LARGEST_DENOMINATOR = 64
"""
Largest denominator of the ratio that approximates a scale factor. The ratio is used only if it
gives the right subscripts.
"""

_LARGEST_TABLE = 1 << 20
"""Largest number of coordinates whose subscripts are compared one by one with an expression."""


def _float32(value: float) -> float:
    (rounded,) = unpack("f", pack("f", value))
    return rounded


@dataclass(frozen=True)
class Axis:
    """Axis that is resized, and the steps in which PyTorch computes its source coordinates."""

    emit: Emitter
    dim: int
    rank: int
    input: int
    output: int
    factor: float | None
    """Scale factor, or None if it follows from the sizes."""

    def rounded(self, value: float) -> float:
        """
        Return a coordinate as PyTorch stores it: in float32, or in float64 if float64 tensors are
        resized.
        """
        return value if self.emit.type == f64 else _float32(value)

    def step(self, align_corners: bool = False) -> float:
        """Return the distance in the source for one step of the result."""
        if align_corners:
            return self.rounded((self.input - 1) / max(self.output - 1, 1)) * (self.output > 1)
        if self.factor is not None and self.factor > 0:
            return self.rounded(1.0 / self.factor)
        return self.rounded(self.input / self.output)

    def along(self, tensor: Tensor) -> Tensor:
        """Return a vector as a tensor along this axis."""
        return tensor.unsqueeze(range(1, self.rank - self.dim))

    def coordinate(self, offset: float = 0.0) -> Tensor:
        """
        Return the coordinates of the result plus `offset`, in the type that source coordinates are
        computed in.
        """
        type = f64 if self.emit.type == f64 else f32
        numbers = self.emit.iota((self.output,), 0).cast(type)
        return numbers + offset if offset else numbers

    def affine(self, table: Sequence[int], *ratios: tuple[int, int, int]) -> AffineExpr | None:
        """
        Return `(coordinate * a + b) floordiv c` for the first triple that gives the subscripts in
        `table`, or None. The identity and the constant are tried before `ratios`.
        """
        for a, b, c in ((1, 0, 1), (0, table[0], 1), *ratios):
            if all((i * a + b) // c == subscript for i, subscript in enumerate(table)):
                expr = AffineDimExpr(self.dim) * a + b
                return expr if c == 1 else expr // c
        return None


def floored(source: Tensor) -> Tensor:
    """
    Return `source` rounded down in float32, as PyTorch does even if it was computed in float64.
    """
    return elementwise(ScalarFunction.FLOOR, source.cast(f32))


def read_at(input: Tensor, subscripts: Sequence[Subscript], shape: Shape) -> Tensor:
    """Return the elements at `subscripts`: a view if all are expressions, else a gather."""
    exprs = [subscript for subscript in subscripts if isinstance(subscript, AffineExpr)]
    if len(exprs) == len(subscripts):
        return input.view(exprs, shape)
    return gather(input, subscripts, shape)


def resized_axes(op: ResizeOp, emit: Emitter) -> list[Axis]:
    """Return the axes that follow batch and channels."""
    sizes = zip(shape_of(op.input)[2:], op.sizes(), op.factors(), strict=True)
    return [
        Axis(emit, dim, op.DIMS + 2, input, output, factor)
        for dim, (input, output, factor) in enumerate(sizes, start=2)
    ]


class Nearest(Decomposition[ResizeOp]):
    """
    Decomposition of nearest resizing: element `min(floor((i + offset) * step), size - 1)`.

    PyTorch's kernels for images with few columns, and for channels last, can differ from its other
    kernels. They differ if the size doubles or stays equal although a given scale factor is not 2
    or 1. This decomposition agrees with the other kernels.
    """

    def __init__(self, offset: float = 0.0):
        self.offset = offset

    def decompose(self, op: ResizeOp, emit: Emitter) -> Tensor:
        read: list[Subscript] = [self.subscript(axis) for axis in resized_axes(op, emit)]
        batch = [AffineDimExpr(0), AffineDimExpr(1)]
        return read_at(emit.stored(op.input), [*batch, *read], op.result_shape())

    def subscript(self, axis: Axis) -> Subscript:
        """Return the subscript of an axis: an expression if one is found, else data."""
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
        """Return the subscript as data that the kernel computes."""
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
