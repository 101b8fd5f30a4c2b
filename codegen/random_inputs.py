# SPDX-License-Identifier: Apache-2.0
"""Inputs for programs that bring none."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilewright.arrays import ROUNDOFF
from tilewright.codegen.launch_plan import ArrayType

Array = NDArray[Any]


def random_inputs(types: Sequence[ArrayType], seed: int) -> list[Array]:
    """Standard normal floats, and integers below 2."""
    generator = np.random.default_rng(seed)
    return [_random_input(type, generator) for type in types]


def _random_input(type: ArrayType, generator: np.random.Generator) -> Array:
    if type.dtype.name in ROUNDOFF:
        return np.asarray(generator.standard_normal(type.shape)).astype(type.dtype)
    return np.asarray(generator.integers(0, 2, type.shape)).astype(type.dtype)
