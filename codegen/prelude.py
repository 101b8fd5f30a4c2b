# SPDX-License-Identifier: Apache-2.0
"""The prelude of a CUDA text: those types and functions of `prelude.cuh` that the module uses."""

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import NamedTuple


class Call(NamedTuple):
    """
    A call in a module: the function's name, and the C++ type of its first argument ("" if that does
    not matter).
    """

    name: str
    type: str


class _Entry(NamedTuple):
    name: str
    """Name of the function or type that the entry defines."""
    type: str | None
    """
    C++ type of a function's first parameter; None for types, and for functions that take any type.
    """
    text: str


_ANY = "T"
"""Type parameter of the prelude's templates."""


def prelude(called: Iterable[Call], types: Iterable[str] = ()) -> str:
    """
    Return the text of the prelude's functions in `called` and types in `types`, in the file's
    order.
    """
    functions = set(called)
    names = {function.name for function in functions} | set(types)
    return "\n\n".join(
        entry.text
        for entry in _entries()
        if entry.name in names and (entry.type is None or (entry.name, entry.type) in functions)
    )


@cache
def _entries() -> tuple[_Entry, ...]:
    """Return all entries of `prelude.cuh`; the file's first paragraph is its header."""
    text = files("tilewright.codegen").joinpath("prelude.cuh").read_text(encoding="utf-8")
    _, *entries = text.strip().split("\n\n")
    return tuple(_parsed(entry) for entry in entries)


_STRUCT = re.compile(r"^struct (?:alignas\(\d+\) )?(\w+) ", re.MULTILINE)
_FUNCTION = re.compile(r"__forceinline__ [\w ]+?[ *](\w+)\(\s*(?:([\w ]+) \w+|([\w ]+ \*)\w+)?[,)]")


def _parsed(entry: str) -> _Entry:
    if (struct := _STRUCT.search(entry)) is not None:
        return _Entry(struct[1], None, entry)
    function = _FUNCTION.search(entry)
    assert function is not None, f"neither a type nor a function of the prelude: {entry}"
    type = function[2] or function[3] or ""
    return _Entry(function[1], None if type == _ANY or type.endswith("*") else type, entry)
