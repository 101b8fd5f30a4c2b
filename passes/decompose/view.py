# SPDX-License-Identifier: Apache-2.0
"""
Views: which elements of a value in the IR a tensor has, and in which order.

A view costs nothing: it only keeps the map from its coordinates to those of the value, so that any
chain of views is one map.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr, AffineMap

from tilewright.dialects.index import delinearize, linearize

Shape = tuple[int, ...]


def axes_of(rank: int) -> list[AffineExpr]:
    """Return the coordinates of a tensor of `rank`."""
    return [AffineExpr.dimension(axis) for axis in range(rank)]


@dataclass(frozen=True)
class View:
    """The elements of `source` that `map` names for each coordinate within `shape`."""

    source: SSAValue
    shape: Shape
    map: AffineMap

    @property
    def rank(self) -> int:
        """How many dimensions there are."""
        return len(self.shape)

    def view(self, coordinates: Sequence[AffineExpr], shape: Shape) -> Self:
        """Return the tensor of `shape` whose elements are mine at `coordinates`."""
        map = AffineMap(len(shape), 0, tuple(coordinates))
        return replace(self, shape=shape, map=self.map.compose(map))

    def reshape(self, shape: Shape) -> Self:
        """Return the same elements in row-major order."""
        return self.view(delinearize(linearize(axes_of(len(shape)), shape), self.shape), shape)

    def permute(self, dims: Sequence[int]) -> Self:
        """Dimension i of the result is my dimension `dims[i]`."""
        axes = axes_of(len(dims))
        coordinates = [axes[dims.index(dim)] for dim in range(len(dims))]
        return self.view(coordinates, tuple(self.shape[dim] for dim in dims))

    def unsqueeze(self, dims: Sequence[int]) -> Self:
        """Dimensions of size 1 which become the dimensions `dims` of the result."""
        sizes, rank = iter(self.shape), self.rank + len(dims)
        shape = tuple(1 if dim in dims else next(sizes) for dim in range(rank))
        return self.view([d for dim, d in enumerate(axes_of(rank)) if dim not in dims], shape)

    def broadcast(self, shape: Shape) -> Self:
        """Aligned at the last dimension of `shape`; what has size 1 is repeated."""
        if shape == self.shape:
            return self
        axes = axes_of(len(shape))[len(shape) - self.rank :]
        zero = AffineConstantExpr(0)
        return self.view([zero if n == 1 else d for n, d in zip(self.shape, axes)], shape)

    def slice(self, dim: int, start: int, size: int, step: int = 1) -> Self:
        """`size` elements along `dim`: those at `start`, `start + step`, ..."""
        coordinates = axes_of(self.rank)
        coordinates[dim] = coordinates[dim] * step + start
        return self.view(coordinates, (*self.shape[:dim], size, *self.shape[dim + 1 :]))
