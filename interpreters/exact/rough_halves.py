# SPDX-License-Identifier: Apache-2.0
"""
Floats whose halves for tf32 are rough: products of split factors need their second parts.

    high = halve(x)            3/8 of x, instead of 1/2 within 2^-11
    low = x * 0.5 - high       1/8 of x

A product of split factors leaves out low * low'. Therefore halves are rough for the factors `a`
alone, or for the factors `b` alone, and exact for the others.
"""

from collections.abc import Sequence

import numpy as np
from xdsl.dialects import arith

from tilewright.interpreters.floats import FLOATS
from tilewright.interpreters.number_system import ExactNumbers
from tilewright.interpreters.types import Array


def _same(values: Array) -> Array:
    return values


def _draw(rng: np.random.Generator, shape: Sequence[int]) -> Array:
    return np.asarray(rng.standard_normal(shape))


def _multiply_add(a: Array, b: Array, d: Array) -> Array:
    return d + a @ b


def _rough(factor: str) -> ExactNumbers:
    """Return the floats whose halves are rough for one factor of matrix products."""

    def halve(x: Array, name: str) -> Array:
        return x * (0.375 if name == factor else 0.5)

    return ExactNumbers(
        functions=FLOATS.functions,
        scalar_functions=FLOATS.scalar_functions,
        casts=FLOATS.casts,
        joins=FLOATS.joins,
        name=f"for rough halves of factors {factor}",
        number=_same,
        to_integer=FLOATS.casts[arith.FPToSIOp],
        draw=_draw,
        multiply_add=_multiply_add,
        halve=halve,
    )


ROUGH_HALVES = (_rough("a"), _rough("b"))
