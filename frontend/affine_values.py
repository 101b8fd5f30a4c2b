# SPDX-License-Identifier: Apache-2.0
"""
Tensors whose values follow from their coordinates: a constant, an affine expression such as `2 * i
+ j`, or a mask such as `k <= q`. Capture replaces them by calls of `iota` and `predicate`, which
need no memory.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

_EXACT, _EXACT_IN_FLOAT32 = 1 << 53, 1 << 24


class Affine(NamedTuple):
    """
    Affine expression of a tensor's coordinates: `sum(coefficient * coordinate) + constant`, with
    one coefficient for each dimension.
    """

    coefficients: tuple[int, ...]
    constant: int

    def at(self, shape: Sequence[int]) -> Any:
        """
        Return an int64 tensor of `shape` that holds the value of the expression at each coordinate.
        """
        import torch

        value = torch.full(tuple(shape), self.constant, dtype=torch.int64)
        for dim, (size, coefficient) in enumerate(zip(shape, self.coefficients, strict=True)):
            position = torch.arange(size).reshape([-1] + [1] * (len(shape) - dim - 1))
            value += coefficient * position
        return value


def iota(shape: Sequence[int], value: Affine) -> Any:
    """
    Return the int64 tensor of `shape` whose elements are the values of an affine expression of
    their coordinates.
    """
    return value.at(shape)


def predicate(shape: Sequence[int], bounds: Sequence[Affine]) -> Any:
    """Return the bool tensor of `shape` that is true where all of `bounds` are at least 0."""
    import torch

    holds = torch.ones(tuple(shape), dtype=torch.bool)
    for bound in bounds:
        holds &= bound.at(shape) >= 0
    return holds


FUNCTIONS: tuple[Callable[..., Any], ...] = (iota, predicate)
"""Functions that a folded graph may call in addition to ATen's operators."""


def splat_of(tensor: Any) -> Any:
    """
    Return the Python number that all elements equal; None if they differ or the tensor is empty.
    """
    if tensor.numel() == 0:
        return None
    first = tensor.reshape(-1)[0]
    same = is_number(tensor, first).all() or (tensor != tensor).all()
    return first.item() if bool(same) else None


def is_number(tensor: Any, number: Any) -> Any:
    """
    Return a bool tensor that is true where `tensor` equals `number`; 0.0 and -0.0 are different.
    """
    return (tensor == number) & (tensor.signbit() == number.signbit())


def affine_of(tensor: Any) -> Affine | None:
    """
    Return the affine expression of the coordinates that gives all elements of a tensor; None if
    there is none. The elements must be integers, in any dtype except bool and complex.
    """
    import torch

    if tensor.dtype == torch.bool or tensor.is_complex() or tensor.numel() == 0:
        return None
    # Larger integers may lose bits: in float32, in which half types are computed too, or in the
    # float64 check below.
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
    Return affine expressions that are all at least 0 exactly where the bool tensor `mask` is true;
    None if there are none.

    Along one dimension, the true elements must be a range `low <= i <= high`. Along two dimensions,
    they must be a band `low <= q - k <= high`.
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
