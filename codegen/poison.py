# SPDX-License-Identifier: Apache-2.0
"""
Poison: bit patterns that mark memory as never written, and their detection.

The pattern of a float is a rare NaN; that of a bool is neither true nor false. An integer may
really have its pattern's value. To be sure, the simulator runs the kernel again with
`OTHER_POISON`.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilewright.codegen.launch_plan import ArrayType, Plan

Array = NDArray[Any]
Patterns = Mapping[int, np.unsignedinteger[Any]]
"""Bit pattern that marks an element as unwritten, by element size in bytes."""

POISON: Patterns = {
    1: np.uint8(0xED),
    2: np.uint16(0x7FED),
    4: np.uint32(0x7FC0FEED),
    8: np.uint64(0x7FC0FEED7FC0FEED),
}

OTHER_POISON: Patterns = {size: ~pattern for size, pattern in POISON.items()}


def allocated(plan: Plan) -> list[Array]:
    """
    Return the arrays that the plan allocates. Buffers in the slab are views of one array, which is
    not filled yet; all other arrays are filled with poison.
    """
    slab, arrays = np.empty(plan.slab.peak_bytes, np.uint8), list[Array]()
    for number in range(len(plan.inputs), len(plan.buffers)):
        type, slot = plan.buffers[number], plan.slab.slots.get(number)
        if slot is None:
            arrays.append(poisoned(type))
        else:
            arrays.append(slab[slot.start : slot.stop].view(type.dtype).reshape(type.shape))
    return arrays


def poison(array: Array) -> None:
    """Mark all elements of `array` as unwritten: overwrite them with the pattern."""
    pattern = POISON[array.itemsize]
    array.view(pattern.dtype)[...] = pattern


def poisoned(type: ArrayType, patterns: Patterns = POISON) -> Array:
    """Return a new array, whose elements all have the pattern of unwritten memory."""
    pattern = patterns[type.dtype.itemsize]
    return np.full(type.shape, pattern).view(type.dtype)


def is_poison(array: Array, patterns: Patterns = POISON) -> NDArray[np.bool_]:
    """Return a mask of the elements that still have the pattern of unwritten memory."""
    pattern = patterns[array.itemsize]
    return array.view(pattern.dtype) == pattern
