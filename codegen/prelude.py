# SPDX-License-Identifier: Apache-2.0
"""The functions of `prelude.cuh`, cut to what a module calls."""

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from tilewright.dialects.cuda_names import PRELUDE


def prelude(called: Iterable[str]) -> str:
    """The text of the prelude's functions among `called`, in the order of the file."""
    wanted = set(called) & PRELUDE
    return "\n\n".join(text for name, text in _functions().items() if name in wanted)


@cache
def _functions() -> dict[str, str]:
    """Each function's text by name; the file's first paragraph is its header."""
    text = files("tilewright.codegen").joinpath("prelude.cuh").read_text(encoding="utf-8")
    _, *functions = text.strip().split("\n\n")
    return {_name_of(function): function for function in functions}


def _name_of(function: str) -> str:
    definition = re.search(r"__forceinline__ \w+ (\w+)\(", function)
    assert definition is not None, f"not a function of the prelude: {function}"
    return definition[1]
