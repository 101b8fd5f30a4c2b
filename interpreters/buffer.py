# SPDX-License-Identifier: Apache-2.0
"""
Memory of a memref: its elements, which of them are written, and the accesses to them.

Memory that a program allocates starts as NaN and unwritten. Reading it is an error, so that a
forgotten store cannot be hidden by an accidental zero.
"""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from tilewright.interpreters.race import Accesses
from tilewright.interpreters.types import Array, DType


class Buffer:
    """
    Memory of a memref of `shape`, flat and row-major.

    Shared and local memory exists once for each block or thread. `slot` then holds, for each point
    of the machine's axes, the offset of that point's copy.
    """

    def __init__(self, shape: Sequence[int], data: Array, *, slot: Any = 0):
        self.shape = tuple(shape)
        self.data = data.reshape(-1)
        self.slot = slot
        self.written: Array | None = None
        self.expected: Array | None = None
        """
        Mask of the elements to which an asynchronous copy is under way; None before the first copy.
        """
        self.writable = False
        self.accesses: Accesses | None = None
        self.name = ""
        """Name of the memory in messages; empty if it has none."""
        self.place: range | None = None
        """
        Byte range of the buffer in the slab or in shared memory, if the buffer has a planned place.
        """
        self.neighbours: list[Buffer] = []
        """Arrays in shared memory whose places overlap this one's."""
        self.overwritten_by = ""
        """Name of the last buffer that was written over this one."""

    @staticmethod
    def of(array: Array) -> "Buffer":
        """Return read-only memory that holds `array`."""
        return Buffer(array.shape, np.ascontiguousarray(array))

    @staticmethod
    def poisoned(shape: Sequence[int], dtype: DType, *, copies: int = 1, slot: Any = 0) -> "Buffer":
        """Return new unwritten memory, filled with NaN (or with all bits set, for integers)."""
        size = prod(shape) * copies
        poison = np.nan if dtype.kind == "f" else np.asarray(-1).astype(dtype)
        buffer = Buffer(shape, np.full(size, poison, dtype), slot=slot)
        buffer.written = np.zeros(size, bool)
        buffer.writable = True
        return buffer

    @staticmethod
    def in_place_of(read: "Buffer") -> "Buffer":
        """
        Return writable memory that shares the data of `read`; all of its elements count as
        unwritten.
        """
        buffer = Buffer(read.shape, read.data)
        buffer.written = np.zeros(read.size, bool)
        buffer.writable = True
        return buffer

    @staticmethod
    def updated(array: Array) -> "Buffer":
        """
        Return writable memory that holds a copy of `array`; all of its elements count as unwritten.
        """
        buffer = Buffer(array.shape, np.array(array, order="C"))
        buffer.written = np.zeros(buffer.size, bool)
        buffer.writable = True
        return buffer

    @property
    def size(self) -> int:
        """
        Number of elements of one copy; shared and local memory has a copy for each block or thread.
        """
        return prod(self.shape)

    def offset(self, subscripts: Sequence[Array]) -> Array:
        """Return the offset in `data` of the element at `subscripts`, for each point."""
        offset: Any = 0
        for index, size in zip(subscripts, self.shape, strict=True):
            offset = offset * size + index
        return np.asarray(self.slot + offset)

    def element(self, offset: Any) -> list[int]:
        """Return the subscripts of the element at `offset` in `data`."""
        return [int(i) for i in np.unravel_index(int(offset) % self.size, self.shape)]

    def is_under_way(self, elements: Array) -> Array:
        """Return a mask of the `elements` to which an asynchronous copy is under way."""
        if self.expected is None:
            return np.zeros(elements.shape, bool)
        return self.expected[elements]

    def set_under_way(self, elements: Array) -> None:
        """Mark `elements` as targets of an asynchronous copy; their contents are lost."""
        if self.expected is None:
            self.expected = np.zeros(self.data.size, bool)
        self.set_unwritten(elements)
        self.expected[elements] = True

    def set_written(self, elements: Array) -> None:
        """Mark `elements` as written."""
        assert self.written is not None
        self.written[elements] = True
        if self.expected is not None:
            self.expected[elements] = False

    def set_unwritten(self, elements: Array) -> None:
        """Mark `elements` as unwritten."""
        assert self.written is not None
        self.written[elements] = False

    def write(self, data: Array) -> None:
        """Replace all contents by `data`; all elements count as written."""
        self.data, self.written, self.overwritten_by = data.reshape(-1), None, ""

    def update(self, part: "Buffer") -> None:
        """
        Replace the contents by those of `part`. An element counts as written if it is written in
        this buffer or in `part`.

        Unwritten elements of `part` already hold the values of this buffer.
        """
        if self.written is None or part.written is None:
            self.write(part.data)
            return
        self.data, self.written = part.data, self.written | part.written

    def overwrite(self, name: str) -> None:
        """
        Mark all elements as unwritten, because the buffer called `name` is written in the same
        memory.
        """
        lost = Buffer.poisoned(self.shape, self.data.dtype)
        self.data, self.written, self.overwritten_by = lost.data, lost.written, name

    def array(self) -> Array:
        """Return the elements, in the memref's shape."""
        return self.data.reshape(self.shape)

    def unwritten(self) -> tuple[int, ...] | None:
        """Return the subscripts of the first unwritten element, or None."""
        if self.written is None or self.written.all():
            return None
        first = int(np.argmin(self.written))
        return tuple(int(i) for i in np.unravel_index(first % self.size, self.shape))
