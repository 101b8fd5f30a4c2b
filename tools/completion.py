# SPDX-License-Identifier: Apache-2.0
"""
Shell completion by argcomplete: `eval "$(register-python-argcomplete tilewright)"`.

A shell that completes a line runs the command with `_ARGCOMPLETE` set. Commands, options and
choices come from the parser; this module completes the values of some options.
"""

import argparse
import ast
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

Complete = Callable[..., Iterable[str]]
"""
Function that returns the texts that begin with its first argument; it also gets keyword arguments.
"""

PROGRAMS = ("mlir", "pt2", "py", "json")
"""File name extensions of programs and suites."""

_OPEN_BRACE = re.compile(r"([\w-]+)\{([^{}]*)$")
_PYTHON = re.compile(r"(?P<path>.*\.py):(?P<name>\w*)")


def complete(parser: argparse.ArgumentParser, values: Mapping[str, Complete]) -> None:
    """
    Print completions and exit if a shell requests them; return at once otherwise.

    `values` completes arguments by their `dest`, in all commands of the parser.
    """
    if "_ARGCOMPLETE" not in os.environ:
        return
    argcomplete = import_module("argcomplete")
    for action in _arguments(parser):
        if (found := values.get(action.dest)) is not None:
            setattr(action, "completer", found)
    argcomplete.autocomplete(parser)


def _arguments(parser: Any) -> Iterable[argparse.Action]:
    """Yield the arguments of a parser and of its commands."""
    for action in parser._actions:
        yield action
        if action.nargs == argparse.PARSER:
            for command in action.choices.values():
                yield from _arguments(command)


def begins(words: Callable[[], Iterable[str]]) -> Complete:
    """
    Return a function that completes a prefix to those of the words that `words()` returns. It calls
    `words` only when a shell requests completions.
    """

    def completions(prefix: str, **_: object) -> list[str]:
        return [word for word in words() if word.startswith(prefix)]

    return completions


def schedules(prefix: str, **_: object) -> list[str]:
    """Return completions of `[KERNEL=]PASSES` by Tilewright's passes."""
    passes: Mapping[str, Any] = import_module("tilewright.passes").get_all_passes()
    named = re.match(r"[\w.$-]+=", prefix)
    kernel = named[0] if named else ""
    return [kernel + text for text in pipelines(passes, prefix.removeprefix(kernel))]


def pipelines(passes: Mapping[str, Callable[[], Any]], prefix: str, **_: object) -> list[str]:
    """Return completions of the last pass of a pipeline, or of the last option in its braces."""
    if within := _OPEN_BRACE.search(prefix):
        return _options(passes, within[1], prefix)
    outside = re.sub(r"\{[^{}]*\}", lambda braces: "_" * len(braces[0]), prefix)
    start = outside.rfind(",") + 1
    return [prefix[:start] + name for name in passes if name.startswith(prefix[start:])]


def _options(passes: Mapping[str, Callable[[], Any]], name: str, prefix: str) -> list[str]:
    """Return completions of the last, unfinished option in `prefix` for the pass `name`."""
    if name not in passes:
        return []
    start = max(prefix.rfind("{"), prefix.rfind(" ")) + 1
    options = [field.name for field in fields(passes[name]()) if field.init]
    return [f"{prefix[:start]}{option}=" for option in options if option.startswith(prefix[start:])]


def programs(prefix: str, **kwargs: Any) -> Iterable[str]:
    """Return completions of a FILE: files, folders, and names in `file.py:NAME`."""
    if _PYTHON.fullmatch(prefix):
        return python_names(prefix)
    files: Complete = import_module("argcomplete.completers").FilesCompleter(PROGRAMS)
    return files(prefix, **kwargs)


def cuda_files(prefix: str, **kwargs: Any) -> Iterable[str]:
    """Return completions of a FILE of CUDA or PTX."""
    files: Complete = import_module("argcomplete.completers").FilesCompleter(("cu", "ptx"))
    return files(prefix, **kwargs)


def python_names(prefix: str) -> list[str]:
    """Return completions of `file.py:NAME` by the classes and functions of the file."""
    named = _PYTHON.fullmatch(prefix)
    assert named is not None
    try:
        statements = ast.parse(Path(named["path"]).read_bytes()).body
    except (OSError, ValueError, SyntaxError):
        return []
    kinds = (ast.FunctionDef, ast.ClassDef)
    names = [statement.name for statement in statements if isinstance(statement, kinds)]
    return [f"{named['path']}:{name}" for name in names if name.startswith(named["name"])]


def _targets() -> Iterable[str]:
    return import_module("tilewright.dialects.target").TARGETS


def _operators() -> Iterable[str]:
    table = import_module("tilewright.tools.ops_table")
    return dict.fromkeys(name for family in table.families() for name in family.operators())


OF_TILEWRIGHT: Mapping[str, Complete] = {
    "file": programs,
    "cuda": cuda_files,
    "schedule": schedules,
    "passes": schedules,
    "target": begins(_targets),
    "names": begins(_operators),
}
"""Completions of the arguments of `tilewright`, by their `dest`."""


def of_opt_tool(
    passes: Mapping[str, Callable[[], Any]], targets: Iterable[str]
) -> Mapping[str, Complete]:
    """Return completions of the arguments of `opt-tool`."""
    return {
        "input_file": programs,
        "passes": partial(pipelines, passes),
        "target": begins(lambda: targets),
    }
