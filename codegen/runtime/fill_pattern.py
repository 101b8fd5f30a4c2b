# SPDX-License-Identifier: Apache-2.0
"""Fills as memset calls of the driver: rows of words of 1, 2 or 4 bytes."""

from typing import NamedTuple

import numpy as np

from tilewright.codegen.runtime.driver import Memory


class Words(NamedTuple):
    """
    A memset that writes one word many times: `height` rows of `width` words, with `pitch` bytes
    from row to row.
    """

    address: int
    pitch: int
    value: int
    size: int
    """Bytes of a word: 1, 2 or 4."""
    width: int
    height: int


def words_in(dtype: np.dtype[np.generic], value: float | int, size: int) -> list[int]:
    """Return the words of `size` bytes that an element of `value` consists of, the lowest first."""
    words: list[int] = np.array([value]).astype(dtype).view(f"u{size}").tolist()
    return words


def words_of(memory: Memory, value: float | int) -> list[Words]:
    """
    Return the memsets that set all elements of a buffer to `value`; none for an empty buffer.

    Elements of eight bytes are set in two memsets, one for each half, unless both halves are equal.
    """
    address, type = memory
    count, size = type.elements, type.dtype.itemsize
    if not count:
        return []
    if size < 8:
        (word,) = words_in(type.dtype, value, size)
        return [Words(address, 0, word, size, count, 1)]
    low, high = words_in(type.dtype, value, 4)
    if low == high:
        return [Words(address, 0, low, 4, 2 * count, 1)]
    return [Words(address + 4 * n, 8, half, 4, 1, count) for n, half in enumerate((low, high))]
