# SPDX-License-Identifier: Apache-2.0
"""
Views: the elements of a value in the IR that a tensor has, and their order.

A view costs nothing: it only keeps the map from its coordinates to those of the value. Any chain of
views is therefore one map.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr, AffineMap

from tilewright.dialects.index import delinearize, linearize

Shape = tuple[int, ...]


def axes_of(rank: int) -> list[AffineExpr]:
    """Return the coordinates of a tensor of rank `rank`."""
    return [AffineExpr.dimension(axis) for axis in range(rank)]


@dataclass(frozen=True)
class View:
    """View of the elements of `source` that `map` selects for each coordinate within `shape`."""

    source: SSAValue
    shape: Shape
    map: AffineMap

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    def view(self, coordinates: Sequence[AffineExpr], shape: Shape) -> Self:
        """
        Return the tensor of shape `shape` whose elements are those of this view at `coordinates`.
        """
        map = AffineMap(len(shape), 0, tuple(coordinates))
        return replace(self, shape=shape, map=self.map.compose(map))

    def reshape(self, shape: Shape) -> Self:
        """Return the same elements, in row-major order, in another shape."""
        return self.view(delinearize(linearize(axes_of(len(shape)), shape), self.shape), shape)

    def permute(self, dims: Sequence[int]) -> Self:
        """Return the view whose dimension i is dimension `dims[i]` of this view."""
        axes = axes_of(len(dims))
        coordinates = [axes[dims.index(dim)] for dim in range(len(dims))]
        return self.view(coordinates, tuple(self.shape[dim] for dim in dims))

    def unsqueeze(self, dims: Sequence[int]) -> Self:
        """
        Return the view with new dimensions of size 1, which are the dimensions `dims` of the
        result.
        """
        sizes, rank = iter(self.shape), self.rank + len(dims)
        shape = tuple(1 if dim in dims else next(sizes) for dim in range(rank))
        return self.view([d for dim, d in enumerate(axes_of(rank)) if dim not in dims], shape)

    def broadcast(self, shape: Shape) -> Self:
        """
        Return the view broadcast to `shape`: aligned at the last dimension, with dimensions of size
        1 repeated.
        """
        if shape == self.shape:
            return self
        axes = axes_of(len(shape))[len(shape) - self.rank :]
        zero = AffineConstantExpr(0)
        return self.view([zero if n == 1 else d for n, d in zip(self.shape, axes)], shape)

    def slice(self, dim: int, start: int, size: int, step: int = 1) -> Self:
        """Return `size` elements along `dim`: those at `start`, `start + step`, ..."""
        coordinates = axes_of(self.rank)
        coordinates[dim] = coordinates[dim] * step + start
        return self.view(coordinates, (*self.shape[:dim], size, *self.shape[dim + 1 :]))
