# SPDX-License-Identifier: Apache-2.0
"""
Models from files: `model.pt2`, written by `torch.export.save`, and `file.py:NAME`.

NAME is one of these:

- a module, a class of modules, or a function without parameters that makes a module;
- a function to be compiled itself;
- an exported program, which has its own inputs.

The inputs of the others are `NAME.example_inputs`, or else the file's `example_inputs`. They are a
tuple of arguments, a dict of keyword arguments, one tensor, or a function that returns one of
these.
"""

import ast
import difflib
import logging
import re
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, redirect_stdout
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, cast
from zipfile import BadZipFile, ZipFile

from tilewright.errors import TilewrightError, UsageError
from tilewright.frontend.expression import Expression, seeded
from tilewright.frontend.source import Place, error_at, error_of, first_line
from tilewright.text_file import read_text_file

_NAMED = re.compile(r"(?P<path>.*\.py):(?P<name>\w+(\.\w+)*)")


def load_model(text: str, seed: int = 0) -> Expression:
    """
    Return the model that `model.pt2` or `file.py:NAME` names, with its inputs.

    The file runs like a program that starts with `torch.manual_seed(seed)`. Raises `UsageError` if
    something is missing, and at the user's line if the file fails.
    """
    if text.endswith(".pt2"):
        return Expression(_exported(text), ())
    if (named := _NAMED.fullmatch(text)) is None:
        names = ", ".join(_defined(text)) or "nothing"
        raise UsageError(
            f"'{text}' is Python: name the model in it, as in {text}:NAME",
            remedy=f"it defines {names}",
        )
    # stdout is for the compiler: text that the file prints goes to stderr.
    with seeded(seed), redirect_stdout(sys.stderr), _importing_from(Path(named["path"]).parent):
        return _model(named["path"], named["name"])


def _exported(path: str) -> Any:
    import torch.export

    if not Path(path).is_file():
        raise UsageError(f"cannot read '{path}': No such file or directory")
    before = logging.root.manager.disable
    logging.disable(logging.ERROR)  # PyTorch logs a traceback before it raises
    try:
        _check_sums(path)
        return torch.export.load(path)
    except OSError as error:
        raise UsageError(f"cannot read '{path}': {error.strerror or error}") from error
    except Exception as error:
        raise UsageError(
            f"cannot read '{path}': {first_line(error)}",
            remedy="pass a file written by torch.export.save",
        ) from error
    finally:
        logging.disable(before)


def _check_sums(path: str) -> None:
    """Raise `BadZipFile` if a part of a ZIP file is damaged, which PyTorch does not check."""
    with ZipFile(path) as file:
        if (part := file.testzip()) is not None:
            raise BadZipFile(f"its part '{part}' is damaged")


def _defined(path: str) -> list[str]:
    """Return the names of the functions and classes of a file, without running it."""
    tree = _parsed(path)
    kinds = (ast.FunctionDef, ast.ClassDef)
    return [statement.name for statement in tree.body if isinstance(statement, kinds)]


def _parsed(path: str) -> ast.Module:
    try:
        return ast.parse(read_text_file(path), path)
    except SyntaxError as error:
        place = Place(path, error.lineno or 1, error.offset or 1)
        raise error_at(place, f"not Python: {error.msg}") from error
    except ValueError as error:
        raise UsageError(f"cannot read '{path}': {error}") from error


@contextmanager
def _importing_from(folder: Path) -> Generator[None]:
    """
    Add `folder` to the import path within the `with` block, so that a file can import its
    neighbours as a script does.
    """
    sys.path.insert(0, str(folder.resolve()))
    try:
        yield
    finally:
        sys.path.remove(str(folder.resolve()))


def _model(path: str, name: str) -> Expression:
    """Return the model called `name`, with its inputs."""
    from torch import nn
    from torch.export import ExportedProgram

    file = _executed(path)
    found = _attribute(file, path, name)
    if isinstance(found, ExportedProgram):
        return Expression(found, ())
    made = _call_user(found, f"'{name}' cannot be constructed") if _is_maker(found) else found
    model = made if isinstance(made, nn.Module) else found
    if not callable(model) or isinstance(model, type):
        kind = type(made).__name__ if isinstance(model, type) else type(model).__name__
        raise UsageError(
            f"{path}:{name} gives an object of type {kind}, not a module or a function"
        )
    needs_inputs = isinstance(model, nn.Module) or not _is_maker(found)
    owners = [model, found, file] if needs_inputs else [found]  # no parameters: ignore the file's
    args, kwargs = _inputs(owners, f"{path}:{name}", needs_inputs)
    return Expression(model, args, kwargs)


def _executed(path: str) -> ModuleType:
    """Run the file, and return it as a module."""
    _parsed(path)
    spec = spec_from_file_location(f"model_file_{Path(path).stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[module.__name__] = module  # dataclasses look up their module there
    _call_user(lambda: spec.loader.exec_module(module))  # pyright: ignore[reportOptionalMemberAccess]
    return module


def _attribute(file: ModuleType, path: str, name: str) -> Any:
    value: Any = file
    for part in name.split("."):
        if not hasattr(value, part):
            near = difflib.get_close_matches(part, [n for n in vars(file) if n[0] != "_"], 1)
            remedy = f"did you mean {near[0]}?" if near else ""
            raise UsageError(f"'{path}' has no {name}", remedy=remedy)
        value = getattr(value, part)
    return value


def _is_maker(found: Any) -> bool:
    """True if a value is a class, or a function without parameters."""
    from inspect import isfunction, signature

    return isinstance(found, type) or (isfunction(found) and not signature(found).parameters)


def _call_user(function: Callable[[], Any], what: str = "") -> Any:
    """
    Return the result of the user's `function`. Its exceptions become a `UsageError` at the user's
    line.
    """
    try:
        return function()
    except TilewrightError:
        raise
    except (Exception, SystemExit) as error:
        found = error_of(error)
        message = f"{what}: {found.message}" if what else found.message
        raise UsageError(message, where=found.where) from error


def _inputs(owners: list[Any], name: str, needed: bool) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """
    Return the arguments and keyword arguments from the first owner that has `example_inputs`, which
    may be a function. Raises `UsageError` if they are `needed` and missing, if they have another
    type, or if the function fails.
    """
    import torch

    given: Any = next((o.example_inputs for o in owners if hasattr(o, "example_inputs")), None)
    if callable(given) and not isinstance(given, torch.Tensor):
        given = _call_user(given, "example_inputs fails")
    match given:
        case tuple():
            return cast(tuple[Any, ...], given), {}
        case dict():
            return (), cast(dict[str, Any], given)
        case torch.Tensor():
            return (given,), {}
        case None if not needed:
            return (), {}
        case None:
            attribute = name.rpartition(":")[2]
            raise UsageError(
                f"the inputs of {name} are not known",
                remedy=f"set {attribute}.example_inputs, or example_inputs in the file, to a tuple "
                "of arguments, a dict of keyword arguments, or a function that gives one",
            )
        case _:
            raise UsageError(
                f"example_inputs of {name} is of type {type(given).__name__}, not a tuple of "
                "arguments, a dict of keyword arguments or a tensor"
            )
