# SPDX-License-Identifier: Apache-2.0
"""
Inputs for the two sides of a rule: exact numbers, ordinary floats, and adversarial values.

Adversarial floats are NaN, infinities, zeros of both signs, subnormals, and the largest and the
smallest floats; adversarial integers are the bounds of their type.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Attribute

from tilewright.interpreters.arguments import shape_and_element
from tilewright.interpreters.number_system import ExactNumbers
from tilewright.interpreters.types import Array, ElementTypes

_ROUNDS = 12
"""Number of adversarial draws of each kind."""

_FEWEST_ROUNDS = 4
_ELEMENTS = 32
"""Number of elements that the draws of one kind give together, with `_ROUNDS` draws at most."""

_LARGE = 4000.0
"""Factor of large ordinary floats: `exp` of most of them overflows."""


@dataclass(frozen=True)
class Draw:
    """Recipe for the inputs of a run."""

    name: str
    """Phrase for messages, as `for ordinary floats`."""
    seed: int = 0
    numbers: ExactNumbers | None = None
    floats: str = "normal"
    """Kind of floats: a key of `_FLOATS`."""
    integers: str = "small"
    """Kind of integers: a key of `_INTEGERS`."""
    widened: bool = False
    """True if all floats are computed in float64."""

    def inputs(self, types: Sequence[Attribute]) -> list[Array]:
        """Return arrays of the shapes and the element types of `types`."""
        rng = np.random.default_rng(self.seed)
        return [self._input(rng, type) for type in types]

    @property
    def element_types(self) -> ElementTypes:
        """Dtypes that the program runs with: exact numbers are held in float64."""
        is_widened = self.widened or self.numbers is not None
        return ElementTypes(np.float64 if is_widened else None, numbers=self.numbers)

    def _input(self, rng: np.random.Generator, type: Attribute) -> Array:
        shape, element = shape_and_element(type)
        dtype = ElementTypes()[element]
        if not isinstance(element, AnyFloat):
            return _INTEGERS[self.integers](rng, shape, dtype)
        if self.numbers is not None:
            return self.numbers.draw(rng, shape)
        kept = np.float64 if self.widened else dtype
        with np.errstate(all="ignore"):
            return _FLOATS[self.floats](rng, shape, dtype).astype(kept)


ORDINARY = (
    Draw("for ordinary floats"),
    Draw("for ordinary floats", 1),
    Draw("for positive floats", 2, floats="positive"),
    Draw("for large floats", 3, floats="large"),
)
MODERATE = tuple(draw for draw in ORDINARY if draw.floats != "large")
"""Ordinary floats whose functions do not overflow."""

SPECIAL = tuple(
    Draw("for NaN, infinities and zeros", 4 + n, floats="special", integers="bounds")
    for n in range(_ROUNDS)
)
EXTREME = tuple(
    Draw("for the largest and smallest floats", 40 + n, floats="extreme", integers="bounds")
    for n in range(_ROUNDS)
)


def rounds(types: Sequence[Attribute]) -> int:
    """Return the number of adversarial draws of each kind for inputs: more for few elements."""
    elements = sum(prod(shape_and_element(type)[0]) for type in types)
    return min(_ROUNDS, max(_FEWEST_ROUNDS, _ELEMENTS // max(1, elements)))


def _normal(rng: np.random.Generator, shape: Sequence[int], dtype: Any, scale: float) -> Array:
    return (np.asarray(rng.standard_normal(shape)) * scale).astype(dtype)


def _positive(rng: np.random.Generator, shape: Sequence[int], dtype: Any) -> Array:
    return (np.abs(np.asarray(rng.standard_normal(shape))) + 0.1).astype(dtype)


def _special(rng: np.random.Generator, shape: Sequence[int], dtype: Any) -> Array:
    values = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.75, -2.5]
    return rng.choice(np.asarray(values), shape).astype(dtype)


def _extreme(rng: np.random.Generator, shape: Sequence[int], dtype: Any) -> Array:
    limits: Any = import_module("ml_dtypes").finfo(dtype)
    values = [float(each) for each in (limits.max, limits.tiny, limits.smallest_subnormal)]
    signed = [*values, *(-value for value in values), 0.0, 1.0, -1.0, 0.75, 3.0]
    return rng.choice(np.asarray(signed), shape).astype(dtype)


def _small(rng: np.random.Generator, shape: Sequence[int], dtype: Any) -> Array:
    low = 0 if _is_unsigned(dtype) else -9
    high = 2 if dtype == np.bool_ else 10
    return rng.integers(low, high, shape).astype(dtype)


def _bits(rng: np.random.Generator, shape: Sequence[int], dtype: Any) -> Array:
    return rng.integers(0, 2, shape).astype(dtype)


def _bounds(rng: np.random.Generator, shape: Sequence[int], dtype: Any) -> Array:
    if dtype == np.bool_:
        return _bits(rng, shape, dtype)
    limits = np.iinfo(dtype)
    signs = [] if _is_unsigned(dtype) else [-1, limits.min, limits.min + 1]
    values = [0, 1, 2, 3, limits.max, limits.max // 3, *signs]
    return rng.choice(np.asarray(values, dtype), shape)


def _is_unsigned(dtype: Any) -> bool:
    return dtype == np.bool_ or np.issubdtype(dtype, np.unsignedinteger)


_FLOATS = {
    "normal": partial(_normal, scale=1.0),
    "large": partial(_normal, scale=_LARGE),
    "positive": _positive,
    "special": _special,
    "extreme": _extreme,
}
_INTEGERS = {"small": _small, "bounds": _bounds, "bits": _bits}
