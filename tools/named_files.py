# SPDX-License-Identifier: Apache-2.0
"""
Checks of the files and folders that a command line names, before the command is imported. Missing
files are reported, as are outputs that would overwrite each other or an input.

A command declares the files it reads with `parser.set_defaults(reads={"against": "file"})`.
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
"""Arguments that name an output file, mapped to their spelling on the command line."""


def check_sources(args: argparse.Namespace) -> None:
    """Raise `UsageError` for the first file in `args` that is missing."""
    reads: Mapping[str, str] = getattr(args, "reads", {})
    for name, kind in reads.items():
        for text in _given(args, name):
            _CHECKS[kind](text)


def check_outputs(args: argparse.Namespace) -> None:
    """
    Raise `UsageError` if two outputs are the same file, or an output is also an input.

    A command that lowers a file of IR may overwrite it with `-o`, as `opt-tool` may.
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
    """Return the values of an argument that holds one path or several; empty if it is not given."""
    given: str | list[str] | bool | None = getattr(args, name, None)
    if isinstance(given, str):
        return [given]
    return given if isinstance(given, list) else []


def check_database(args: argparse.Namespace) -> None:
    """Raise `DatabaseError` unless the database for looking up schedules can be opened."""
    if not getattr(args, "needs_db", False) or args.db is None:
        return
    # SQLite is imported only if a database is named.
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
    """Raise `UsageError` unless the FILE or MODEL of a command exists."""
    if names_model(text):
        check_name(text)
    else:
        _check_file(_IN_PYTHON.sub("", text))


def _check_file(path: str) -> None:
    """
    Raise `UsageError` unless the file exists. It is not opened, because a pipe can be read only
    once.
    """
    if path == "-":
        return
    try:
        os.stat(path)
    except (OSError, ValueError) as err:  # ValueError: the path contains a NUL character
        reason = err.strerror if isinstance(err, OSError) else err
        raise UsageError(f"cannot read '{path}': {reason}") from err
    if os.path.isdir(path):
        raise UsageError(f"cannot read '{path}': Is a directory")


def _check_kernels(path: str) -> None:
    """Raise `UsageError` unless a folder or a suite for `simcheck` exists."""
    if path.endswith(".json"):
        _check_file(path)
    elif not os.path.isdir(path):
        remedy = "run it in a checkout, or name a folder of NAME.cu and NAME.toml, or NAME.mlir"
        raise UsageError(f"there is no folder '{path}'", remedy=remedy)


def _check_short_model(name: str) -> None:
    """Raise `UsageError` unless `bench --model` accepts the name."""
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
