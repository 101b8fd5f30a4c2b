# SPDX-License-Identifier: Apache-2.0
"""
Inputs as kernels take them: row-major, without gaps, and at addresses that are multiples of what
kernels need. An array that is so already is passed as it is; any other is copied, at each call.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def loaded_array(array: Array, axes: Sequence[int] | None, alignment: int) -> Array:
    """`array` with its axes in the order of `axes`, at a multiple of `alignment` bytes."""
    loaded = np.asarray(array if axes is None else array.transpose(axes), order="C")
    return loaded if is_aligned(loaded, alignment) else _copied(loaded, alignment)


def is_aligned(array: Array, alignment: int) -> bool:
    """True if the address of the first element is a multiple of `alignment` bytes."""
    return not array.size or array.ctypes.data % alignment == 0


def aligned_bytes(size: int, alignment: int) -> NDArray[np.uint8]:
    """`size` bytes of new memory at a multiple of `alignment`."""
    memory = np.empty(size + alignment, np.uint8)
    start = -memory.ctypes.data % alignment
    return memory[start : start + size]


def _copied(array: Array, alignment: int) -> Array:
    copy = aligned_bytes(array.nbytes, alignment).view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy
