# SPDX-License-Identifier: Apache-2.0
"""Fixture that makes arrays as inputs of programs."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

Rand = Callable[..., NDArray[np.float32]]


@pytest.fixture
def rand() -> Rand:
    """Normal float32 arrays, the same in every run."""
    rng = np.random.default_rng(0)
    return lambda *shape: rng.standard_normal(shape).astype(np.float32)
