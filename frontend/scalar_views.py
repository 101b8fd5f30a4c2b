# SPDX-License-Identifier: Apache-2.0
"""
Parts of tensors that are read at subscripts known later, kept like the views that PyTorch reads.

`row = x[p]` is a view: what is written to `x` afterwards shows in `row`, and the other way around.
Where `p` is a tensor capture reads a copy. So before a copy is used it is read again if its base
was written since, and after it was written its base is written too.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

Read = Callable[[Any, Any], Any]
Write = Callable[[Any, Any, Any], None]


@dataclass
class _Copy:
    """The elements of `base` at `subscript`, and the versions of both that agree."""

    base: Any
    subscript: Any
    values: Any
    base_version: int
    version: int


class ScalarViews:
    """The copies of one trace, by their memory."""

    def __init__(self, read: Read, write: Write):
        self._read = read
        self._write = write
        self._copies: dict[int | None, _Copy] = {}

    def __bool__(self) -> bool:
        return bool(self._copies)

    def read(self, base: Any, subscript: Any) -> Any:
        """Return the elements at `subscript`, which from now on are a view."""
        values = self._read(base, subscript)
        copy = _Copy(base, subscript, values, base._version, values._version)
        self._copies[_memory(values)] = copy
        return values

    def refresh(self, tensors: Iterable[Any]) -> None:
        """Read again what lies in the memory of `tensors`, where its base was written."""
        for tensor in tensors:
            copy = self._copies.get(_memory(tensor))
            if copy is None:
                continue
            self.refresh([copy.base])
            if copy.base._version != copy.base_version:
                copy.values.copy_(self._read(copy.base, copy.subscript))
                copy.base_version, copy.version = copy.base._version, copy.values._version

    def store(self, tensors: Iterable[Any]) -> None:
        """Write the bases of what lies in the memory of `tensors`, where that was written."""
        for tensor in tensors:
            copy = self._copies.get(_memory(tensor))
            if copy is None or copy.values._version == copy.version:
                continue
            self._write(copy.base, copy.subscript, copy.values)
            copy.base_version, copy.version = copy.base._version, copy.values._version
            self.store([copy.base])


def _memory(tensor: Any) -> int | None:
    """
    Return what tells apart the memory of tensors; those that a copy keeps alive stay apart. None
    for sparse tensors, which have several pieces.
    """
    import torch

    return tensor.untyped_storage()._cdata if tensor.layout is torch.strided else None
