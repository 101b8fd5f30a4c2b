# SPDX-License-Identifier: Apache-2.0
"""
Memory: the elements of a memref, which of them have been written, and who touched them.

Memory that a program allocates starts as NaN and unwritten; reading it is an error, so that a
forgotten store cannot hide behind a lucky zero.
"""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from tilewright.interpreters.race import Accesses
from tilewright.interpreters.types import Array, DType


class Buffer:
    """
    The memory behind a memref of `shape`, flat and row-major.

    Shared and local memory exists once for each block or thread: then `slot` holds, at every
    point of the machine's axes, the offset at which that point's own copy starts.
    """

    def __init__(self, shape: Sequence[int], data: Array, *, slot: Any = 0):
        self.shape = tuple(shape)
        self.data = data.reshape(-1)
        self.slot = slot
        self.written: Array | None = None
        self.writable = False
        self.accesses: Accesses | None = None
        self.place: range | None = None
        """Its bytes in the slab that buffers share, if it has some there."""
        self.overwritten_by = ""
        """The name of the buffer that was the last to be written in its place."""

    @staticmethod
    def of(array: Array) -> "Buffer":
        """Memory that holds `array` and is only read."""
        return Buffer(array.shape, np.ascontiguousarray(array))

    @staticmethod
    def poisoned(shape: Sequence[int], dtype: DType, *, copies: int = 1, slot: Any = 0) -> "Buffer":
        """Fresh memory: NaN (or all bits set) until written."""
        size = prod(shape) * copies
        poison = np.nan if dtype.kind == "f" else np.asarray(-1).astype(dtype)
        buffer = Buffer(shape, np.full(size, poison, dtype), slot=slot)
        buffer.written = np.zeros(size, bool)
        buffer.writable = True
        return buffer

    @staticmethod
    def in_place_of(read: "Buffer") -> "Buffer":
        """Memory to be written where `read` lies."""
        buffer = Buffer(read.shape, read.data)
        buffer.written = np.zeros(read.size, bool)
        buffer.writable = True
        return buffer

    @property
    def size(self) -> int:
        """Elements in one copy."""
        return prod(self.shape)

    def offset(self, subscripts: Sequence[Array]) -> Array:
        """Where the element at `subscripts` lies in `data`, at every point."""
        offset: Any = 0
        for index, size in zip(subscripts, self.shape, strict=True):
            offset = offset * size + index
        return np.asarray(self.slot + offset)

    def write(self, data: Array) -> None:
        """Replace all contents."""
        self.data, self.written, self.overwritten_by = data.reshape(-1), None, ""

    def overwrite(self, name: str) -> None:
        """Lose all contents to the buffer called `name`."""
        lost = Buffer.poisoned(self.shape, self.data.dtype)
        self.data, self.written, self.overwritten_by = lost.data, lost.written, name

    def array(self) -> Array:
        """The elements, in the memref's shape."""
        return self.data.reshape(self.shape)

    def unwritten(self) -> tuple[int, ...] | None:
        """The subscripts of the first element that was never written, if there is one."""
        if self.written is None or self.written.all():
            return None
        first = int(np.argmin(self.written))
        return tuple(int(i) for i in np.unravel_index(first % self.size, self.shape))
