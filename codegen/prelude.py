# SPDX-License-Identifier: Apache-2.0
"""The types and functions of `prelude.cuh`, cut to what a module names."""

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import NamedTuple


class Call(NamedTuple):
    """What a module calls: a function, and the C++ type of its first argument, "" if none."""

    name: str
    type: str


class _Entry(NamedTuple):
    name: str
    """The name of a function or of a type."""
    type: str | None
    """The C++ type of a function's first parameter; None where any fits, and for a type."""
    text: str


_ANY = "T"
"""The parameter of the prelude's templates."""


def prelude(called: Iterable[Call], types: Iterable[str] = ()) -> str:
    """
    Return the prelude's functions among `called`, its types among `types`, in the file's order.
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
    """Everything; the file's first paragraph is its header."""
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
