# SPDX-License-Identifier: Apache-2.0
"""Number of elements of a row that the registers of a block hold."""

from functools import cache

from tilewright.dialects.target import WARP_SIZE, Target

MOST_ELEMENTS = 64
"""Most registers of a thread that its part of a row takes, beside those of the computation."""

BESIDE = 13
"""Registers of a thread beside those that hold its part of the row."""

_VECTOR = 4
"""Elements of the widest access to float32."""


@cache
def most_row_elements(target: Target) -> int:
    """Return the length of the longest row that a block of `target` has in registers."""
    blocks = range(WARP_SIZE, target.max_threads_per_block + 1, WARP_SIZE)
    parts = range(_VECTOR, MOST_ELEMENTS + 1, _VECTOR)
    shapes = ((threads, part) for threads in blocks for part in parts)
    return max(t * p for t, p in shapes if target.blocks_per_sm(t, 0, BESIDE + p) > 0)
