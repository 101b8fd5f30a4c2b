# SPDX-License-Identifier: Apache-2.0
"""The types of options in the words of whoever writes them: `a list of integers, as m=64,32`."""

from types import NoneType
from typing import Any, Literal, get_args, get_origin

from xdsl.utils.hints import type_repr

_ONE = {
    bool: ("true or false", "true"),
    int: ("an integer", "64"),
    float: ("a number", "0.5"),
    str: ("a word", "a"),
}
"""What one value is, and an example."""

_SEVERAL = {
    bool: ("a list of true and false", "true,false"),
    int: ("a list of integers", "64,32"),
    float: ("a list of numbers", "0.5,2"),
    str: ("a list of words", "a,b"),
}


def expected(hint: Any) -> tuple[str, str]:
    """What values an option of the type `hint` takes, and an example of one."""
    kinds = [kind for kind in (get_args(hint) or (hint,)) if kind is not NoneType]
    if get_origin(hint) in (tuple, Literal):
        kinds = [hint]
    described = [_described(kind) for kind in kinds]
    return " or ".join(words for words, _ in described), described[0][1]


def _described(kind: Any) -> tuple[str, str]:
    values = get_args(kind)
    if get_origin(kind) is Literal:
        return " or ".join(map(str, values)), str(values[0])
    if get_origin(kind) is tuple:
        return _SEVERAL.get(values[0], ("a list", "a,b"))
    return _ONE.get(kind, (type_repr(kind), "..."))
