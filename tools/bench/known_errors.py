# SPDX-License-Identifier: Apache-2.0
"""
Errors of the clock for our own kernels, by group of programs.

The numbers are those of `benchmarks/results/clock/errors.json`, which an installed package lacks.
Only measured kernels of ours count. The times of other libraries' kernels also differ from the
clock because the kernels differ.
"""

from typing import NamedTuple


class KnownError(NamedTuple):
    """Error of the clock for one set of measured kernels."""

    data: str
    """Data set and device, as in `errors.json`."""
    kernels: str
    """Description of the measured kernels."""
    rows: int
    mean: float
    """Mean of the relative errors without their signs."""
    ratio: float
    """Geometric mean of the clock's time over the measured one."""


PRODUCTS = KnownError("tilings h200", "two float32 products by FFMA, H200", 99, 0.0692, 0.9552)
ROWS = KnownError(
    "suite84 h100-sxm", "softmax, RMSNorm and silu, 2 to 26 us, H100", 13, 0.1106, 0.8879
)

KNOWN_ERRORS = {"matmul": PRODUCTS, "softmax": ROWS, "norm": ROWS, "pointwise": ROWS}
"""Errors by the `op` of a case. Kernels of other groups were not measured."""
