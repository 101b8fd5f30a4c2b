# SPDX-License-Identifier: Apache-2.0
"""Flags of floating-point ops that passes set and ask for."""

from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.utils import FastMathFlag

FINITE = (FastMathFlag.NO_NANS, FastMathFlag.NO_INFS)
"""Flags of a product whose factors count as finite."""

APPROXIMATE = FastMathFlagsAttr([FastMathFlag.APPROX_FUNC])
"""Flags of a product whose factors may be rounded, or of a function that may be approximate."""


def counts_as_finite(fastmath: FastMathFlagsAttr | None) -> bool:
    """True if the flags promise that factors are finite."""
    return fastmath is not None and {*FINITE} <= {*fastmath.data}
