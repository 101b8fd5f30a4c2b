# SPDX-License-Identifier: Apache-2.0
"""
Memory that nobody has written, and how to see that it still is such.

It starts out as a NaN of a peculiar pattern, or a bool that is neither true nor false. An integer
may really be so: who finds one looks again with other patterns.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilewright.codegen.launch_plan import ArrayType, Plan

Array = NDArray[Any]
Patterns = Mapping[int, np.unsignedinteger[Any]]
"""What an element starts out as, by its bytes."""

POISON: Patterns = {
    1: np.uint8(0xED),
    2: np.uint16(0x7FED),
    4: np.uint32(0x7FC0FEED),
    8: np.uint64(0x7FC0FEED7FC0FEED),
}

OTHER_POISON: Patterns = {size: ~pattern for size, pattern in POISON.items()}


def allocated(plan: Plan) -> list[Array]:
    """What the plan allocates; buffers in the slab really overlap."""
    slab, arrays = np.empty(plan.slab.peak_bytes, np.uint8), list[Array]()
    for number in range(len(plan.inputs), len(plan.buffers)):
        type, slot = plan.buffers[number], plan.slab.slots.get(number)
        if slot is None:
            arrays.append(poisoned(type))
        else:
            arrays.append(slab[slot.start : slot.stop].view(type.dtype).reshape(type.shape))
    return arrays


def poison(array: Array) -> None:
    """Forget what is in `array`."""
    pattern = POISON[array.itemsize]
    array.view(pattern.dtype)[...] = pattern


def poisoned(type: ArrayType, patterns: Patterns = POISON) -> Array:
    """Memory that nobody has written."""
    pattern = patterns[type.dtype.itemsize]
    return np.full(type.shape, pattern).view(type.dtype)


def is_poison(array: Array, patterns: Patterns = POISON) -> NDArray[np.bool_]:
    """Which elements still look as they did at first."""
    pattern = patterns[array.itemsize]
    return array.view(pattern.dtype) == pattern
