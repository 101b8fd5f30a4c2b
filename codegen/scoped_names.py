# SPDX-License-Identifier: Apache-2.0
"""Unique names for the values of a kernel, from their hints, per C++ scope."""

from collections.abc import Generator
from contextlib import contextmanager

from xdsl.ir import SSAValue

from tilewright.dialects.cuda.identifiers import RESERVED, identifier


class ScopedNames:
    """
    Names that are unique among those visible: `acc`, then `acc1`, `acc2`, ...

    A name is free again where its scope ends, so that two loops may both count with `k`.
    """

    def __init__(self) -> None:
        self._of: dict[SSAValue, str] = {}
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}
        # What to undo at the end of each open scope: names, and counters as they were.
        self._scopes: list[list[tuple[str, str, int]]] = [[]]

    def __getitem__(self, value: SSAValue) -> str:
        return self._of[value]

    def declare(self, value: SSAValue) -> str:
        """The name of `value`, from here to the end of the scope."""
        stem = identifier(value.name_hint or "v")
        first = count = self._next.get(stem, 0)
        while (name := _numbered(stem, count)) in self._taken or name in RESERVED:
            count += 1
        self._next[stem] = count + 1
        self._taken.add(name)
        self._scopes[-1].append((name, stem, first))
        self._of[value] = name
        return name

    @contextmanager
    def scope(self) -> Generator[None]:
        """Names declared inside end with the `with`."""
        self._scopes.append([])
        yield
        for name, stem, count in reversed(self._scopes.pop()):
            self._taken.remove(name)
            self._next[stem] = count


def _numbered(stem: str, count: int) -> str:
    if count == 0:
        return stem
    separator = "_" if stem[-1].isdigit() else ""
    return f"{stem}{separator}{count}"
