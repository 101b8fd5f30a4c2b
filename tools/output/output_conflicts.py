# SPDX-License-Identifier: Apache-2.0
"""
Outputs of a command line that would be written over each other, or over a file that it reads.

A command that lowers a file of IR may write it in place with `-o`, as `opt-tool` may.
"""

import argparse
import os
import re
from collections.abc import Iterator
from typing import Any, cast

from tilewright.errors import UsageError

_OPTIONS = {
    "output": "-o",
    "logits": "-o",
    "plan": "--plan",
    "json": "--json",
    "plot": "--plot",
    "exported": "FILE",
}
"""Arguments that name a file to write, as the user writes them."""

_IN_PYTHON = re.compile(r"(?<=\.py):[\w.]+$")


def check_outputs(args: argparse.Namespace) -> None:
    """Raise `UsageError` for two outputs in one file, and for an output in a file that is read."""
    taken: dict[str, str] = {}
    read = {os.path.realpath(path): path for path in _read(args)}
    for name, option in _OPTIONS.items():
        path = getattr(args, name, None)
        if not isinstance(path, str) or path in ("", "-"):
            continue
        place = os.path.realpath(path)
        if os.path.exists(place) and not os.path.isfile(place):
            continue  # a terminal, a pipe or a folder
        if (other := taken.setdefault(place, option)) != option:
            raise UsageError(f"{other} and {option} write the same file '{path}'")
        source = read.get(place)
        if source is not None and not (name == "output" and source.endswith(".mlir")):
            raise UsageError(f"{option} would write over '{source}', which is read")


def _read(args: argparse.Namespace) -> Iterator[str]:
    """Yield the paths of the files that a command reads, and of its database."""
    for name in (*getattr(args, "reads", ()), "db"):
        given: Any = getattr(args, name, None)
        paths = cast(list[Any], given) if isinstance(given, list) else [given]
        for path in paths:
            if isinstance(path, str) and "\0" not in path:
                yield _IN_PYTHON.sub("", path)
