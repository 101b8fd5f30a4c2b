# SPDX-License-Identifier: Apache-2.0
"""Random index maps that give a tensor of a shape: views, broadcasts, padding and joins."""

from collections.abc import Callable, Sequence
from itertools import permutations
from math import prod
from random import Random
from typing import NamedTuple

from xdsl.ir.affine import AffineExpr, AffineMap

Shape = tuple[int, ...]


class Moved(NamedTuple):
    """Source of an index map: its shape, and its map and mask."""

    shape: Shape
    maps: tuple[AffineMap, AffineMap]


def moved_to(shape: Sequence[int], random: Random) -> list[Moved]:
    """Return the sources of a random index map with a result of `shape`."""
    kind = random.choice(_KINDS if shape and 0 not in shape else _OF_ANY_SHAPE)
    return kind(tuple(shape), random)


def _dims(shape: Shape) -> list[AffineExpr]:
    return [AffineExpr.dimension(dim) for dim in range(len(shape))]


def _always(rank: int, shape: Sequence[int], exprs: Sequence[AffineExpr]) -> Moved:
    map = AffineMap(rank, 0, tuple(exprs))
    return Moved(tuple(shape), (map, AffineMap(rank, 0, ())))


def _where(shape: Sequence[int], exprs: Sequence[AffineExpr], mask: Sequence[AffineExpr]) -> Moved:
    rank = len(exprs)
    return Moved(tuple(shape), (AffineMap(rank, 0, tuple(exprs)), AffineMap(rank, 0, tuple(mask))))


def _identity(shape: Shape, random: Random) -> list[Moved]:
    return [_always(len(shape), shape, _dims(shape))]


def _permutation(shape: Shape, random: Random) -> list[Moved]:
    orders = [*permutations(range(len(shape)))]
    order = random.choice(orders[1:] or orders)
    dims = _dims(shape)
    return [_always(len(shape), [shape[dim] for dim in order], [dims[dim] for dim in order])]


def _broadcast(shape: Shape, random: Random) -> list[Moved]:
    """Return a source without some of the axes, or with size 1 there."""
    dims, sizes, exprs = _dims(shape), list[int](), list[AffineExpr]()
    for dim, size in zip(dims, shape, strict=True):
        kind = random.randrange(3)
        if kind == 0:
            continue
        sizes.append(size if kind == 1 else 1)
        exprs.append(dim if kind == 1 else AffineExpr.constant(0))
    return [_always(len(shape), sizes, exprs)]


def _unit_axis(shape: Shape, random: Random) -> list[Moved]:
    """Return a source with one more axis, of size 1."""
    at, dims, sizes = random.randint(0, len(shape)), _dims(shape), [*shape]
    dims.insert(at, AffineExpr.constant(0))
    sizes.insert(at, 1)
    return [_always(len(shape), sizes, dims)]


def _flattened(shape: Shape, random: Random) -> list[Moved]:
    """Return a source of rank 1 with the elements in their order."""
    expr = AffineExpr.constant(0)
    for dim, size in zip(_dims(shape), shape, strict=True):
        expr = expr * size + dim
    return [_always(len(shape), [prod(shape)], [expr])]


def _unflattened(shape: Shape, random: Random) -> list[Moved]:
    """Return a source in which one axis is split into two."""
    axis, dims = random.randrange(len(shape)), _dims(shape)
    factors = [f for f in range(1, shape[axis] + 1) if shape[axis] % f == 0]
    inner = random.choice(factors)
    split = [dims[axis] // inner, dims[axis] % inner]
    sizes = [*shape[:axis], shape[axis] // inner, inner, *shape[axis + 1 :]]
    return [_always(len(shape), sizes, [*dims[:axis], *split, *dims[axis + 1 :]])]


def _slice(shape: Shape, random: Random) -> list[Moved]:
    axis, dims, sizes = random.randrange(len(shape)), _dims(shape), [*shape]
    first, step = random.randrange(3), random.choice((1, 1, 2))
    dims[axis] = dims[axis] * step + first
    sizes[axis] = (shape[axis] - 1) * step + first + 1 + random.randrange(2)
    return [_always(len(shape), sizes, dims)]


def _reversed(shape: Shape, random: Random) -> list[Moved]:
    axis, dims = random.randrange(len(shape)), _dims(shape)
    dims[axis] = dims[axis] * -1 + (shape[axis] - 1)
    return [_always(len(shape), shape, dims)]


def _padded(shape: Shape, random: Random) -> list[Moved]:
    axis, dims, sizes = random.randrange(len(shape)), _dims(shape), [*shape]
    before = random.randrange(shape[axis])
    sizes[axis] = random.randint(1, shape[axis] - before)
    dims[axis] = dims[axis] - before
    mask = [dims[axis], dims[axis] * -1 + (sizes[axis] - 1)]
    return [_where(sizes, dims, mask)]


def _joined(shape: Shape, random: Random) -> list[Moved]:
    """Return two sources, one behind the other."""
    axis = random.randrange(len(shape))
    if shape[axis] < 2:
        return _identity(shape, random)
    at, dims = random.randrange(1, shape[axis]), _dims(shape)
    first, second = [*shape], [*shape]
    first[axis], second[axis] = at, shape[axis] - at
    moved = [*dims]
    moved[axis] = dims[axis] - at
    behind = _where(second, moved, [moved[axis]])
    return [_where(first, dims, [dims[axis] * -1 + (at - 1)]), behind]


_OF_ANY_SHAPE: Sequence[Callable[[Shape, Random], list[Moved]]] = (
    _permutation,
    _permutation,
    _permutation,
    _broadcast,
    _unit_axis,
)
_KINDS = (
    *_OF_ANY_SHAPE,
    _identity,
    _flattened,
    _unflattened,
    _slice,
    _reversed,
    _padded,
    _joined,
)
