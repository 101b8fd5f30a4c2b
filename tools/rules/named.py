# SPDX-License-Identifier: Apache-2.0
"""
Rules by name: `FILE.py:Pattern`, `package.module:Pattern`, or `FILE.py` for all patterns that the
file defines. A pattern is a class without arguments, or an instance.
"""

import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from xdsl.pattern_rewriter import RewritePattern

from tilewright.errors import TilewrightError, UsageError, did_you_mean, one_line
from tilewright.tools.rules.rule import Rule, line_in, rule_of


def rules_named(text: str) -> list[Rule]:
    """Return the rules of an argument; raises `UsageError` if it names none."""
    place, _, name = text.rpartition(":") if _has_name(text) else (text, "", "")
    module = _of_file(place) if place.endswith(".py") else _of_package(place)
    if name:
        return [rule_of(name, _instance(_found(module, place, name), f"{place}:{name}"))]
    found = dict(_patterns(module))
    rules = [rule_of(n, each) for n, each in found.items() if isinstance(each, RewritePattern)]
    left_out = [each for each in found.values() if isinstance(each, UsageError)]
    if not found:
        raise UsageError(f"'{place}' defines no RewritePattern")
    if not rules:
        raise left_out[0]
    for err in left_out:
        print(f"warning: {err}; it is left out", file=sys.stderr)
    return rules


def _has_name(text: str) -> bool:
    return ":" in text and not text.endswith(".py")


def _of_file(path: str) -> ModuleType:
    """Run a file, and return it as a module."""
    if not Path(path).is_file():
        reason = "Is a directory" if Path(path).is_dir() else "No such file or directory"
        raise UsageError(f"cannot read '{path}': {reason}")
    spec = spec_from_file_location(f"rules_of_{Path(path).stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[module.__name__] = module  # dataclasses look up their module there
    folder = str(Path(path).resolve().parent)
    sys.path.insert(0, folder)  # a file may import its neighbours, as a script does
    try:
        spec.loader.exec_module(module)
    except TilewrightError:
        raise
    except (Exception, SystemExit) as err:
        message = f"{type(err).__name__}: {one_line(err)}"
        raise UsageError(message, where=line_in(path, err)) from err
    finally:
        sys.path.remove(folder)
    return module


def _of_package(name: str) -> ModuleType:
    remedy = "name FILE.py:Pattern, or package.module:Pattern"
    if not all(part.isidentifier() for part in name.split(".")):
        raise UsageError(f"'{name}' is neither a .py file nor a module", remedy=remedy)
    try:
        return import_module(name)
    except ModuleNotFoundError as err:
        raise UsageError(f"there is no module '{err.name}'", remedy=remedy) from err


def _found(module: ModuleType, place: str, name: str) -> Any:
    if (found := vars(module).get(name)) is not None:
        return found
    known = [each for each, value in vars(module).items() if _is_pattern(value)]
    raise UsageError(f"'{place}' has no '{name}'", remedy=did_you_mean(name, known))


def _is_pattern(value: Any) -> bool:
    kind = value if isinstance(value, type) else type(value)
    return issubclass(kind, RewritePattern) and kind is not RewritePattern


def _instance(found: Any, place: str) -> RewritePattern:
    """Return the pattern of a class or an instance."""
    if not _is_pattern(found):
        raise UsageError(f"'{place}' is not a RewritePattern")
    if isinstance(found, RewritePattern):
        return found
    try:
        return found()
    except TypeError as err:
        remedy = "assign an instance to a name, and give that name"
        raise UsageError(f"'{place}' needs arguments: {err}", remedy=remedy) from err


def _patterns(module: ModuleType) -> Iterator[tuple[str, RewritePattern | UsageError]]:
    """Yield the patterns that a module defines, or the errors in their place, by name."""
    for name, value in vars(module).items():
        if not _is_pattern(value) or name.startswith("_"):
            continue
        if isinstance(value, type) and value.__module__ != module.__name__:
            continue
        try:
            yield name, _instance(value, name)
        except UsageError as err:
            yield name, err
