# SPDX-License-Identifier: Apache-2.0
"""
Tensors whose values follow from their coordinates: the same number everywhere, `2 * i + j`, or
true where `k <= q`. A mask that is known to be one of these need not be in memory.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

_EXACT, _EXACT_IN_FLOAT32 = 1 << 53, 1 << 24


class Affine(NamedTuple):
    """`sum(coefficient * coordinate) + constant`, one coefficient a dimension."""

    coefficients: tuple[int, ...]
    constant: int

    def at(self, shape: Sequence[int]) -> Any:
        """Return its values over a tensor of `shape`, an int64."""
        import torch

        value = torch.full(tuple(shape), self.constant, dtype=torch.int64)
        for dim, (size, coefficient) in enumerate(zip(shape, self.coefficients, strict=True)):
            position = torch.arange(size).reshape([-1] + [1] * (len(shape) - dim - 1))
            value += coefficient * position
        return value


def iota(shape: Sequence[int], value: Affine) -> Any:
    """
    Return the int64 tensor of `shape` whose elements are an affine expression of their coordinates.
    """
    return value.at(shape)


def predicate(shape: Sequence[int], bounds: Sequence[Affine]) -> Any:
    """Return the bool tensor of `shape` that is true where all `bounds` are at least 0."""
    import torch

    holds = torch.ones(tuple(shape), dtype=torch.bool)
    for bound in bounds:
        holds &= bound.at(shape) >= 0
    return holds


FUNCTIONS: tuple[Callable[..., Any], ...] = (iota, predicate)
"""What a folded graph may call beside ATen."""


def splat_of(tensor: Any) -> Any:
    """Return the Python number that every element is; None if they differ or there are none."""
    if tensor.numel() == 0:
        return None
    first = tensor.reshape(-1)[0]
    same = is_number(tensor, first).all() or (tensor != tensor).all()
    return first.item() if bool(same) else None


def is_number(tensor: Any, number: Any) -> Any:
    """Where a tensor is a number, a tensor too; 0.0 and -0.0 are two."""
    return (tensor == number) & (tensor.signbit() == number.signbit())


def affine_of(tensor: Any) -> Affine | None:
    """Return the affine expression that a tensor's elements are, as integers, if they are one."""
    import torch

    if tensor.dtype == torch.bool or tensor.is_complex() or tensor.numel() == 0:
        return None
    # Larger integers are not computed exactly: in float32, as halves are, or by `Affine.at`.
    limit = _EXACT_IN_FLOAT32 if tensor.is_floating_point() else _EXACT
    if not bool((tensor.double().abs() <= limit).all()):
        return None
    origin = (0,) * tensor.dim()
    constant = int(tensor[origin])
    steps = [
        int(tensor[(*origin[:dim], 1, *origin[dim + 1 :])]) - constant if size > 1 else 0
        for dim, size in enumerate(tensor.shape)
    ]
    found = Affine(tuple(steps), constant)
    return found if bool(is_number(tensor, found.at(tensor.shape)).all()) else None


def bounds_of(mask: Any) -> list[Affine] | None:
    """
    What is at least 0 where a bool tensor is true, and nowhere else: along one dimension the true
    elements are `low <= i <= high`, along two they are a band `low <= q - k <= high`.
    """
    varying = [dim for dim in range(mask.dim()) if not _is_constant_along(mask, dim)]
    if not 1 <= len(varying) <= 2 or not mask.any():
        return None
    signs = [0] * mask.dim()
    for dim, sign in zip(varying, (1, -1)):
        signs[dim] = sign
    position = Affine(tuple(signs), 0).at(mask.shape)
    low, high = int(position[mask].min()), int(position[mask].max())
    bounds: list[Affine] = []
    if low > int(position.min()):
        bounds.append(Affine(tuple(signs), -low))
    if high < int(position.max()):
        bounds.append(Affine(tuple(-sign for sign in signs), high))
    return bounds if bool((predicate(mask.shape, bounds) == mask).all()) else None


def _is_constant_along(tensor: Any, dim: int) -> bool:
    return bool((tensor == tensor.narrow(dim, 0, 1)).all())
