# SPDX-License-Identifier: Apache-2.0
"""
Multiply-adds that a GPU does per second in a contraction, by the type of its factors.

Tensor cores multiply bf16 or f16 factors and add in float32 (`mma.sync`). All other contractions
use fused multiply-adds of float32.
"""

from collections.abc import Mapping

from xdsl.ir import Attribute

from tilewright.dialects.element_types import HALVES
from tilewright.dialects.target import Target

_SCHEDULERS = 4
"""Schedulers of an SM, each with one tensor core."""

_PRODUCTS = 16 * 8 * 16
"""Multiply-adds of one `mma.sync.m16n8k16`."""

MMA_SYNC_CLOCKS: Mapping[str, int] = {
    "sm_80": 8,
    "sm_86": 16,
    "sm_89": 16,
    "sm_90a": 6,
    "sm_100a": 8,
    "sm_120": 32,
}
"""
Clocks from one `mma.sync.m16n8k16` of a scheduler to the next, by target. The value for `sm_90a` is
measured, and that for `sm_100a` is assumed. The others follow from data sheets: dense bf16
operations per second with float32 sums.
"""


def multiply_adds_per_second(factors: Attribute | None, target: Target) -> float:
    """
    Return the multiply-adds per second of a contraction on a busy `target`. `factors` is the type
    of both factors, or None if they differ.
    """
    if factors not in HALVES:
        return target.flops / 2
    in_a_clock = target.sms * _SCHEDULERS * _PRODUCTS / MMA_SYNC_CLOCKS[target.name]
    return in_a_clock * target.clock
