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
        self.expected: Array | None = None
        """Which elements a copy is under way to, once there has been one."""
        self.writable = False
        self.accesses: Accesses | None = None
        self.name = ""
        """What it is called, if it may come to be named."""
        self.place: range | None = None
        """Its bytes in the slab or shared memory that buffers share, if it has some there."""
        self.neighbours: list[Buffer] = []
        """The arrays in shared memory that lie in the same place."""
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

    @staticmethod
    def updated(array: Array) -> "Buffer":
        """Memory that holds a copy of `array`, of which nothing is written anew yet."""
        buffer = Buffer(array.shape, np.array(array, order="C"))
        buffer.written = np.zeros(buffer.size, bool)
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

    def element(self, offset: Any) -> list[int]:
        """Return the subscripts of the element at `offset` in `data`."""
        return [int(i) for i in np.unravel_index(int(offset) % self.size, self.shape)]

    def on_its_way(self, elements: Array) -> Array:
        """To which of `elements` a copy is under way."""
        if self.expected is None:
            return np.zeros(elements.shape, bool)
        return self.expected[elements]

    def set_on_its_way(self, elements: Array) -> None:
        """A copy to `elements` begins: what they held is lost."""
        if self.expected is None:
            self.expected = np.zeros(self.data.size, bool)
        self.set_unwritten(elements)
        self.expected[elements] = True

    def set_written(self, elements: Array) -> None:
        """Something is in `elements` now."""
        assert self.written is not None
        self.written[elements] = True
        if self.expected is not None:
            self.expected[elements] = False

    def set_unwritten(self, elements: Array) -> None:
        """Nothing is in `elements` any more."""
        assert self.written is not None
        self.written[elements] = False

    def write(self, data: Array) -> None:
        """Replace all contents."""
        self.data, self.written, self.overwritten_by = data.reshape(-1), None, ""

    def update(self, part: "Buffer") -> None:
        """Replace what is written in `part`, which holds all other contents as they are here."""
        if self.written is None or part.written is None:
            self.write(part.data)
            return
        self.data, self.written = part.data, self.written | part.written

    def overwrite(self, name: str) -> None:
        """Lose all contents to the buffer called `name`."""
        lost = Buffer.poisoned(self.shape, self.data.dtype)
        self.data, self.written, self.overwritten_by = lost.data, lost.written, name

    def array(self) -> Array:
        """Return the elements, in the memref's shape."""
        return self.data.reshape(self.shape)

    def unwritten(self) -> tuple[int, ...] | None:
        """Return the subscripts of the first element that was never written, if there is one."""
        if self.written is None or self.written.all():
            return None
        first = int(np.argmin(self.written))
        return tuple(int(i) for i in np.unravel_index(first % self.size, self.shape))
