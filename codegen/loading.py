# SPDX-License-Identifier: Apache-2.0
"""
Conversion of input arrays to the layout that kernels read: row-major, without gaps, aligned.

An array that has this layout and alignment is passed without a copy. Any other array is copied at
each call.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def loaded_array(array: Array, axes: Sequence[int] | None, alignment: int) -> Array:
    """
    Return `array` with its axes permuted to `axes`, row-major, at an address that is a multiple of
    `alignment`.

    The array itself is returned if it already has this form, else a copy.
    """
    loaded = np.asarray(array if axes is None else array.transpose(axes), order="C")
    return loaded if is_aligned(loaded, alignment) else _copied(loaded, alignment)


def is_aligned(array: Array, alignment: int) -> bool:
    """True if the address of the first element is a multiple of `alignment` bytes."""
    return not array.size or array.ctypes.data % alignment == 0


def aligned_bytes(size: int, alignment: int) -> NDArray[np.uint8]:
    """Return `size` new bytes of memory at an address that is a multiple of `alignment`."""
    memory = np.empty(size + alignment, np.uint8)
    start = -memory.ctypes.data % alignment
    return memory[start : start + size]


def _copied(array: Array, alignment: int) -> Array:
    copy = aligned_bytes(array.nbytes, alignment).view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy
