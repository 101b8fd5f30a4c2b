# SPDX-License-Identifier: Apache-2.0
"""
Tensor map (`CUtensorMap`): an array as bulk copies see it, and the box that one copy moves.

CUDA driver API, cuTensorMapEncodeTiled; PTX ISA, "Tensors". Sizes here are in the order of the
array's axes; coordinates in CUDA begin with the innermost axis.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilewright.errors import UsageError

ALIGNMENT = 128
"""Alignment of a box in shared memory, in bytes."""

_MOST_BOX, _MOST_STRIDE, _MOST_AXES, _LINE = 256, 8, 5, 16
SWIZZLES = {0: 0, 32: 1, 64: 3, 128: 7}
"""
Bits of the number of an address's 16-byte unit that a swizzle may change, by the bytes of the
swizzle's span.
"""


@dataclass(frozen=True, eq=False)
class TensorMap:
    """
    Tensor map in tile mode without interleaving, passed as a `const __grid_constant__` parameter.

    `strides` are bytes, by default those of the array. `element_strides` step within a box, but not
    on the innermost axis. `swizzle` is 0, 32, 64 or 128 bytes. Elements outside of the array read
    as zero, or as NaN with `fill_nan`. Raises `UsageError` for a map that cuTensorMapEncodeTiled
    refuses.
    """

    array: NDArray[Any]
    box: tuple[int, ...]
    element_strides: tuple[int, ...] = ()
    swizzle: int = 0
    fill_nan: bool = False
    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    steps: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        set = object.__setattr__
        set(self, "shape", self.shape or self.array.shape)
        set(self, "strides", self.strides or self.array.strides)
        steps = self.element_strides or (1,) * self.rank
        set(self, "steps", (*steps[:-1], 1))
        for legal, what in self._rules():
            if not legal:
                raise UsageError(f"a tensor map needs {what}")

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def tile(self) -> tuple[int, ...]:
        """Shape of the box in shared memory."""
        return tuple(-(-size // step) for size, step in zip(self.box, self.steps, strict=True))

    @property
    def bytes(self) -> int:
        """Bytes that one copy writes, including elements outside of the array."""
        return int(np.prod(self.tile)) * self.array.itemsize

    def _rules(self) -> list[tuple[bool, str]]:
        size = self.array.itemsize
        inner = (self.box[-1] if self.box else 0) * size
        return [
            (1 <= self.rank <= _MOST_AXES, "one to five axes"),
            (len(self.box) == self.rank == len(self.strides), "a box with a size for each axis"),
            (all(1 <= n <= _MOST_BOX for n in self.box), f"box sizes of 1 to {_MOST_BOX} per axis"),
            (len(self.steps) == self.rank, "an element stride for each axis"),
            (all(1 <= n <= _MOST_STRIDE for n in self.steps), "element strides of 1 to 8"),
            (all(1 <= n <= 1 << 32 for n in self.shape), "axes of 1 to 2**32 elements"),
            (self.strides[-1] == size, "an innermost axis without gaps"),
            (
                all(n % _LINE == 0 for n in self.strides[:-1]),
                "strides that are multiples of 16 bytes",
            ),
            (inner % _LINE == 0, "a box whose innermost axis is a multiple of 16 bytes"),
            (self.swizzle in SWIZZLES, "a swizzle of 0, 32, 64 or 128 bytes"),
            (not self.swizzle or inner <= self.swizzle, "a box no wider than its swizzle"),
        ]

    def load(
        self, memory: NDArray[np.uint8], origin: tuple[int, ...]
    ) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """
        Return the bytes of the box at `origin`, 16 per row, and the offsets of its elements in
        memory.

        Elements outside of the array have no offset.
        """
        size = self.array.itemsize
        offset, inside = np.zeros(self.tile, np.int64), np.ones(self.tile, np.bool_)
        for axis, (start, count) in enumerate(zip(origin, self.tile, strict=True)):
            place = start + np.arange(count) * self.steps[axis]
            place = place.reshape([-1 if other == axis else 1 for other in range(self.rank)])
            offset = offset + place * self.strides[axis]
            inside = inside & (place >= 0) & (place < self.shape[axis])
        items = memory.view(f"u{size}")
        outside = np.array(np.nan if self.fill_nan else 0, self.array.dtype).view(items.dtype)
        data = np.where(inside, items[np.where(inside, offset, 0) // size], outside)
        return data.reshape(-1).view(np.uint8).reshape(-1, _LINE), offset[inside]

    def places(self, start: int) -> NDArray[np.int64]:
        """
        Return the address in shared memory of each 16 bytes of a box that starts at address
        `start`.

        Swizzles count from byte 0, not from `start` (CUDA C++ Programming Guide, "The Swizzle
        Modes").
        """
        place = start + np.arange(0, self.bytes, _LINE)
        return place ^ ((place >> 7 & SWIZZLES[self.swizzle]) << 4)
