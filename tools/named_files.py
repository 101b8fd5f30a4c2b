# SPDX-License-Identifier: Apache-2.0
"""
Checks of the files and folders that a command line names, before the command is imported: one that
is not there is reported at once, and so are outputs that would be written over each other, or over
a file that the command reads.

A command names what it reads as `parser.set_defaults(reads={"against": "file"})`.
"""

import argparse
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from tilewright.errors import UsageError
from tilewright.models.config import check_name, is_repository
from tilewright.tools.options.bench import SHORT

_PYTORCH = r"pt2|py(:[\w.]+)?"
_OF_PYTORCH = re.compile(rf"\.({_PYTORCH})$")
_FILE = re.compile(rf"\.(mlir|json|{_PYTORCH})$")
_IN_PYTHON = re.compile(r"(?<=\.py):[\w.]+$")

_OUTPUTS = {
    "output": "-o",
    "logits": "-o",
    "plan": "--plan",
    "json": "--json",
    "plot": "--plot",
    "exported": "FILE",
}
"""Arguments that name a file to write, as the user writes them."""


def check_sources(args: argparse.Namespace) -> None:
    """Raise `UsageError` for the first of the files that `args` name that is not there."""
    reads: Mapping[str, str] = getattr(args, "reads", {})
    for name, kind in reads.items():
        for text in _given(args, name):
            _CHECKS[kind](text)


def check_outputs(args: argparse.Namespace) -> None:
    """
    Raise `UsageError` for two outputs in one file, and for an output in a file that is read.

    A command that lowers a file of IR may write it in place with `-o`, as `opt-tool` may.
    """
    taken: dict[str, str] = {}
    read = {os.path.realpath(path): path for path in _read(args)}
    for name, option in _OUTPUTS.items():
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
        for path in _given(args, name):
            if "\0" not in path:
                yield _IN_PYTHON.sub("", path)


def _given(args: argparse.Namespace, name: str) -> Sequence[str]:
    """Return the paths that an argument of one or several holds."""
    given: str | list[str] | bool | None = getattr(args, name, None)
    if isinstance(given, str):
        return [given]
    return given if isinstance(given, list) else []


def check_database(args: argparse.Namespace) -> None:
    """Raise `DatabaseError` unless the database that schedules are looked up in can be opened."""
    if not getattr(args, "needs_db", False) or args.db is None:
        return
    # SQLite is loaded where there is something to read, and nowhere else.
    from tilewright.tuning.database import Database

    with Database.reading(Path(args.db)):
        pass


def names_model(text: str) -> bool:
    """True if `text` names a language model, rather than a file."""
    path = Path(text)
    if os.path.lexists(path) or _FILE.search(text):
        return os.path.isdir(text)
    return is_repository(text) or not (path.suffix or text == "-")


def names_pytorch(text: str) -> bool:
    """True if the FILE `text` is a program that PyTorch runs; every other file is IR."""
    return _OF_PYTORCH.search(text) is not None


def _check_program(text: str) -> None:
    """Raise unless the FILE or MODEL of a command is there."""
    if names_model(text):
        check_name(text)
    else:
        _check_file(_IN_PYTHON.sub("", text))


def _check_file(path: str) -> None:
    """Raise unless there is a file; it is not opened, as a pipe can be read once only."""
    if path == "-":
        return
    try:
        os.stat(path)
    except (OSError, ValueError) as err:  # ValueError: no path has a NUL in it
        reason = err.strerror if isinstance(err, OSError) else err
        raise UsageError(f"cannot read '{path}': {reason}") from err
    if os.path.isdir(path):
        raise UsageError(f"cannot read '{path}': Is a directory")


def _check_kernels(path: str) -> None:
    """Raise unless there is a folder or a suite for `simcheck`."""
    if path.endswith(".json"):
        _check_file(path)
    elif not os.path.isdir(path):
        remedy = "run it in a checkout, or name a folder of NAME.cu and NAME.toml, or NAME.mlir"
        raise UsageError(f"there is no folder '{path}'", remedy=remedy)


def _check_short_model(name: str) -> None:
    """Raise unless `bench --model` knows the name."""
    try:
        check_name(SHORT.get(name, name))
    except UsageError as err:
        remedy = f"{err.remedy}; --model also takes {' and '.join(SHORT)}"
        raise UsageError(err.message, remedy=remedy) from None


_CHECKS: Mapping[str, Callable[[str], None]] = {
    "program": _check_program,
    "file": _check_file,
    "model": check_name,
    "short model": _check_short_model,
    "kernels": _check_kernels,
}
