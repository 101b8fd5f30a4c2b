# SPDX-License-Identifier: Apache-2.0
"""
Multiply-adds that a GPU does per second in a contraction, by the type of its factors.

Tensor cores multiply bf16 or f16 factors and add in float32 (`mma.sync`). All other contractions
use fused multiply-adds of float32.
"""

from xdsl.ir import Attribute

from tilewright.dialects.element_types import HALVES
from tilewright.dialects.target import Target


def multiply_adds_per_second(factors: Attribute | None, target: Target) -> float:
    """
    Return the multiply-adds per second of a contraction on a busy `target`. `factors` is the type
    of both factors, or None if they differ.
    """
    if factors not in HALVES:
        return target.flops / 2
    return target.mma_flops / 2
