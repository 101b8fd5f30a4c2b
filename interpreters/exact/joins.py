# SPDX-License-Identifier: Apache-2.0
"""Joins of exact number systems, with the methods of a `numpy.ufunc`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tilewright.interpreters.exact.ordinary import BEYOND, are_ordinary
from tilewright.interpreters.number_system import Function
from tilewright.interpreters.types import Array


class OrdinaryJoin(NamedTuple):
    """Sum or product of many ordinary numbers."""

    over: Callable[[Array, tuple[int, ...]], Array]
    """Join over dimensions, which are kept."""
    along: Function
    """Prefix joins along dimension 0."""
    into: Callable[[Array, tuple[Array, ...], Array], None]
    """Function that joins numbers to elements of an array, in place."""


@dataclass(frozen=True)
class ExactJoin:
    """
    Sum or product of all numbers. Integers, and sums with numbers that are not ordinary, are those
    of `floats`.
    """

    floats: np.ufunc
    function: Function
    """Join of two arrays."""
    ordinary: OrdinaryJoin

    def __call__(self, one: Array, other: Array) -> Array:
        """Return the join of two arrays, element by element."""
        return self.function(one, other)

    def reduce(
        self,
        value: Array,
        dims: tuple[int, ...],
        dtype: Any = None,
        keepdims: bool = False,
        initial: Any = None,
    ) -> Array:
        """Return the join over `dims`, and of `initial`."""
        if value.dtype.kind != "f":
            whole = {} if initial is None else {"initial": initial}
            return self.floats.reduce(value, dims, dtype=dtype, keepdims=keepdims, **whole)
        found = self._over(value, dims)
        if initial is not None:
            found = self.function(found, np.asarray(initial))
        return found if keepdims else np.squeeze(found, dims)

    def _over(self, value: Array, dims: tuple[int, ...]) -> Array:
        if are_ordinary(value):
            return self.ordinary.over(value, dims)
        is_ordinary = np.abs(value) < BEYOND
        found = self.ordinary.over(np.where(is_ordinary, value, 0.0), dims)
        others = self.floats.reduce(value, dims, keepdims=True)
        return np.where(is_ordinary.all(dims, keepdims=True), found, others)

    def accumulate(self, value: Array, axis: int, dtype: Any = None) -> Array:
        """Return the prefix joins along `axis`, which is 0."""
        if value.dtype.kind != "f":
            return self.floats.accumulate(value, axis, dtype=dtype)
        if are_ordinary(value):
            return self.ordinary.along(value)
        is_ordinary = np.logical_and.accumulate(np.abs(value) < BEYOND, axis)
        found = self.ordinary.along(np.where(is_ordinary, value, 0.0))
        return np.where(is_ordinary, found, self.floats.accumulate(value, axis))

    def at(self, values: Array, subscripts: Any, others: Array) -> None:
        """Join each of `others` to the element of `values` at its subscripts, in place."""
        if values.dtype.kind != "f" or not are_ordinary(others) or not are_ordinary(values):
            self.floats.at(values, subscripts, others)
            return
        self.ordinary.into(values, subscripts, others)
