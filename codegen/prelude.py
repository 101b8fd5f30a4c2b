# SPDX-License-Identifier: Apache-2.0
"""The functions of `prelude.cuh`, cut to what a module calls."""

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import NamedTuple


class Call(NamedTuple):
    """What a module calls: a function, and the C++ type of its result."""

    name: str
    result: str


class _Function(NamedTuple):
    name: str
    result: str
    """The C++ type of the result; for a template, and for a test of values, it does not matter."""
    text: str


def prelude(called: Iterable[Call]) -> str:
    """The text of the prelude's functions among `called`, in the order of the file."""
    wanted = set(called)
    names = {name for name, _ in wanted}
    return "\n\n".join(
        f.text
        for f in _functions()
        if (f.name, f.result) in wanted or (f.name in names and f.result in ("T", "bool"))
    )


@cache
def _functions() -> tuple[_Function, ...]:
    """Every function; the file's first paragraph is its header."""
    text = files("tilewright.codegen").joinpath("prelude.cuh").read_text(encoding="utf-8")
    _, *functions = text.strip().split("\n\n")
    return tuple(_parsed(function) for function in functions)


def _parsed(function: str) -> _Function:
    definition = re.search(r"__forceinline__ (\w+) (\w+)\(", function)
    assert definition is not None, f"not a function of the prelude: {function}"
    return _Function(definition[2], definition[1], function)
