# SPDX-License-Identifier: Apache-2.0
"""Data flows frontend -> dialects, passes -> codegen; no file imports from a later stage."""

import ast
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

_FILES = (
    *("arrays", "errors", "stages", "machine_memory", "text_file", "uncollected"),
    *("matrix_sums", "rounding"),
)
_BASE = (*_FILES, "__version__", "")
"""Modules of the package itself that all may import."""

RULES = tomllib.loads((ROOT / "docs" / "architecture.toml").read_text())

# folder -> the folders of ours that it may import from, in addition to itself and `_BASE`
MAY_IMPORT = {folder: {*others} for folder, others in RULES["packages"].items()}
MAY_IMPORT["tools"] |= {"universe", "api"}

# folder -> packages that its files may not import at all
NEVER = {"dialects": {"torch", "numpy"}, "passes": {"torch", "numpy"}}

# folder -> packages that its files may not import while they are themselves imported
NOT_AT_IMPORT = {
    "frontend": {"torch"},
    "tools": {"torch"},  # commands load numpy as needed: test_start_up
    "codegen": {"torch"},
    "interpreters": {"torch"},
    "models": {"torch", "transformers"},
    "tuning": {"torch"},
}

# files with subclasses of torch's and transformers' classes, for commands that need both
DERIVING = {"models/key_values.py", "models/prefill.py", "models/decode_step.py"}

FOLDERS = [name for name in MAY_IMPORT if (ROOT / name).is_dir()]
SOURCES = [path for name in FOLDERS for path in sorted((ROOT / name).rglob("*.py"))]


def _statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield `tree` and every statement below it, without a look at expressions."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            waiting += getattr(node, field, ())


@cache
def parsed(path: Path) -> ast.Module:
    """Return the syntax tree of a file."""
    return ast.parse(path.read_text(), str(path))


def imports(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield every module that is imported anywhere below `tree`, with its line."""
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            # `from tilewright import passes` imports tilewright.passes
            prefix = "." * node.level + (node.module or "")
            yield from ((f"{prefix}.{alias.name}", node.lineno) for alias in node.names)


def imports_when_imported(body: list[ast.stmt]) -> Iterator[tuple[str, int]]:
    """Yield the modules imported when the file itself is imported: imports outside functions."""
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(statement, ast.Import | ast.ImportFrom):
            yield from imports(statement)
        for field in ("body", "orelse", "finalbody", "handlers"):
            yield from imports_when_imported(getattr(statement, field, []))


def stage(module: str) -> str:
    """
    Return the top-level part of Tilewright that a module belongs to; empty for other packages.
    """
    first, _, rest = module.partition(".")
    return rest.partition(".")[0] if first == "tilewright" else ""


def misplaced(folder: str, tree: ast.Module, derives: bool = False) -> list[str]:
    """
    Return the imports of a file of `folder` against the rules; `derives`: it is in `DERIVING`.
    """
    allowed = MAY_IMPORT[folder] | {folder, *_BASE}
    heavy = set[str]() if derives else NOT_AT_IMPORT.get(folder, set[str]())
    never = NEVER.get(folder, set[str]()) | MAY_IMPORT.keys()
    found = [*imports(tree)]
    late = [f"line {n}: {m}" for m, n in found if stage(m) not in allowed]
    banned = [f"line {n}: {m}" for m, n in found if m.partition(".")[0] in never]
    eager = [
        f"line {n}: {m} when imported"
        for m, n in imports_when_imported(tree.body)
        if m.partition(".")[0] in heavy
    ]
    return late + banned + eager


def test_the_table_allows_no_more_than_is_imported():
    trees = [(path.relative_to(ROOT).parts[0], parsed(path)) for path in SOURCES]
    used = {(folder, stage(name)) for folder, tree in trees for name, _ in imports(tree)}
    allowed = {(folder, other) for folder, others in MAY_IMPORT.items() for other in others}
    assert sorted(allowed - used) == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_imports_only_earlier_stages(folder: str):
    # One test for a folder: there are a thousand files, and a test takes milliseconds by itself.
    names = {path.relative_to(ROOT).as_posix(): path for path in SOURCES}
    found = {
        name: misplaced(folder, parsed(path), name in DERIVING)
        for name, path in names.items()
        if name.partition("/")[0] == folder
    }
    assert found
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize(
    ("folder", "source"),
    [
        ("dialects", "from tilewright.passes import x"),
        ("dialects", "from tilewright import passes"),
        ("passes", "def f():\n    import tilewright.codegen.printer"),
        ("interpreters", "from tilewright.codegen import nvrtc"),
        ("passes", "from dialects import loop"),
        ("passes", "def f():\n    import numpy"),
        ("frontend", "if 1:\n    from torch import nn"),
        ("frontend", "class A:\n    import torch"),
    ],
)
def test_wrong_imports_are_found(folder: str, source: str):
    assert misplaced(folder, ast.parse(source)) != []


def test_lazy_torch_is_allowed():
    assert misplaced("frontend", ast.parse("def f():\n    import torch")) == []
