# SPDX-License-Identifier: Apache-2.0
"""Inputs for programs that bring none."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilewright.arrays import ROUNDOFF
from tilewright.codegen.launch_plan import ArrayType

Array = NDArray[Any]

INDEX_TYPES = ("int32", "int64")
"""Integers that a program may use as indices."""


def random_inputs(types: Sequence[ArrayType], seed: int, bound: int = 2) -> list[Array]:
    """Return standard normal floats, and integers below `bound`; booleans and bytes are below 2."""
    generator = np.random.default_rng(seed)
    return [_random_input(type, generator, bound) for type in types]


def _random_input(type: ArrayType, generator: np.random.Generator, bound: int) -> Array:
    if type.dtype.name in ROUNDOFF:
        return np.asarray(generator.standard_normal(type.shape)).astype(type.dtype)
    high = bound if type.dtype.name in INDEX_TYPES else 2
    return np.asarray(generator.integers(0, high, type.shape)).astype(type.dtype)
