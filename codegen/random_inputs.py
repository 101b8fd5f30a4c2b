# SPDX-License-Identifier: Apache-2.0
"""Random inputs for programs without inputs of their own."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilewright.arrays import ROUNDOFF
from tilewright.codegen.launch_plan import ArrayType

Array = NDArray[Any]

INDEX_TYPES = ("int32", "int64")
"""Integer dtypes that a program may use as indices."""


def random_inputs(types: Sequence[ArrayType], seed: int, bound: int = 2) -> list[Array]:
    """
    Return arrays of the given types: normal floats, indices below `bound`, and 0 or 1 for other
    dtypes.
    """
    generator = np.random.default_rng(seed)
    return [_random_input(type, generator, bound) for type in types]


def _random_input(type: ArrayType, generator: np.random.Generator, bound: int) -> Array:
    if type.dtype.name in ROUNDOFF:
        return np.asarray(generator.standard_normal(type.shape)).astype(type.dtype)
    high = bound if type.dtype.name in INDEX_TYPES else 2
    return np.asarray(generator.integers(0, high, type.shape)).astype(type.dtype)
