# SPDX-License-Identifier: Apache-2.0
"""
Copies of the parts of a tensor that are read at subscripts known only at run time; they behave as
views.

`row = x[p]` is a view: later writes to `x` show in `row`, and the other way around. Where `p` is a
tensor, capture reads a copy instead. Before a copy is used, it is read again if its base has been
written. After a copy is written, its base is written too.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

Read = Callable[[Any, Any], Any]
Write = Callable[[Any, Any, Any], None]


@dataclass
class _Copy:
    """
    Copy of the elements of `base` at `subscript`, and the versions of both tensors at which they
    agree.
    """

    base: Any
    subscript: Any
    values: Any
    base_version: int
    version: int


class ScalarViews:
    """Copies made during one trace, identified by the memory of their values."""

    def __init__(self, read: Read, write: Write):
        self._read = read
        self._write = write
        self._copies: dict[int | None, _Copy] = {}

    def __bool__(self) -> bool:
        return bool(self._copies)

    def read(self, base: Any, subscript: Any) -> Any:
        """Return a copy of the elements at `subscript`, which behaves as a view from now on."""
        values = self._read(base, subscript)
        copy = _Copy(base, subscript, values, base._version, values._version)
        self._copies[_memory(values)] = copy
        return values

    def refresh(self, tensors: Iterable[Any]) -> None:
        """
        Read copies that lie in the memory of `tensors` again if their bases have been written
        since.
        """
        for tensor in tensors:
            copy = self._copies.get(_memory(tensor))
            if copy is None:
                continue
            self.refresh([copy.base])
            if copy.base._version != copy.base_version:
                copy.values.copy_(self._read(copy.base, copy.subscript))
                copy.base_version, copy.version = copy.base._version, copy.values._version

    def store(self, tensors: Iterable[Any]) -> None:
        """
        Write copies that lie in the memory of `tensors` to their bases if the copies have been
        written since.
        """
        for tensor in tensors:
            copy = self._copies.get(_memory(tensor))
            if copy is None or copy.values._version == copy.version:
                continue
            self._write(copy.base, copy.subscript, copy.values)
            copy.base_version, copy.version = copy.base._version, copy.values._version
            self.store([copy.base])


def _memory(tensor: Any) -> int | None:
    """
    Return an identifier of a tensor's memory, unique while the tensor exists; None for sparse
    tensors, which have several pieces of memory.
    """
    import torch

    return tensor.untyped_storage()._cdata if tensor.layout is torch.strided else None
