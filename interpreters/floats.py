# SPDX-License-Identifier: Apache-2.0
"""Number system of NumPy's floats, rounded as their dtypes are."""

import numpy as np

from tilewright.dialects.monoid import Monoid
from tilewright.interpreters.casts import CASTS
from tilewright.interpreters.number_system import NumberSystem
from tilewright.interpreters.scalar import ELEMENTWISE
from tilewright.interpreters.scalar_function import SCALAR_FUNCTIONS

FLOATS = NumberSystem(
    functions=ELEMENTWISE,
    scalar_functions=SCALAR_FUNCTIONS,
    casts=CASTS,
    joins={
        Monoid.ADD: np.add,
        Monoid.MUL: np.multiply,
        Monoid.MAX: np.maximum,
        Monoid.MIN: np.minimum,
        Monoid.AND: np.logical_and,
        Monoid.OR: np.logical_or,
        Monoid.ARGMAX: np.maximum,
        Monoid.ARGMIN: np.minimum,
        Monoid.SOFTMAX: np.maximum,
        Monoid.MOMENTS: np.add,
    },
)
