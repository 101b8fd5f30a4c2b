# SPDX-License-Identifier: Apache-2.0
"""
Docstrings, comments, messages and pages in plain technical English; `words.toml` has the rules.

A test holds the part of the rules that a program can see: first words, length, banned words.
"""

import ast
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from .test_layers import FOLDERS as LAYERS
from .test_layers import ROOT

RULES: dict[str, Any] = tomllib.loads(Path(__file__).with_name("words.toml").read_text())
BANNED = [(re.compile(pattern), better) for pattern, better in RULES["banned"].items()]

FUNCTION = "function"
DEFINITION = "definition"
COMMENT = "comment"
MESSAGE = "message"
PAGE = "page"


@dataclass(frozen=True)
class Text:
    """A text in a file, from `line` on; `kind` decides which rules hold for it."""

    path: Path
    line: int
    kind: str
    text: str


DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)


def _is_named_by_a_phrase(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """True if a function is a property, a fixture or a test."""
    decorators = " ".join(map(ast.unparse, function.decorator_list))
    return function.name.startswith("test_") or bool(re.search(r"property|fixture", decorators))


def _strings(tree: ast.Module, path: Path) -> Iterator[Text]:
    """Yield docstrings, notes below fields, and other strings of several words."""
    notes: set[ast.AST] = set()
    nodes = [*ast.walk(tree)]
    for node in nodes:
        if not isinstance(node, DEFINITIONS):
            continue
        for index, statement in enumerate(node.body):
            match statement:
                case ast.Expr(ast.Constant(str(text)) as note):
                    notes.add(note)
                    is_verb = (
                        index == 0
                        and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
                        and not _is_named_by_a_phrase(node)
                    )
                    yield Text(path, note.lineno, FUNCTION if is_verb else DEFINITION, text)
                case _:
                    pass
    for node in nodes:
        if isinstance(node, ast.Constant) and node not in notes:
            if isinstance(node.value, str) and node.value.count(" ") > 1:
                yield Text(path, node.lineno, MESSAGE, node.value)


def _comments(source: str, path: Path) -> Iterator[Text]:
    """Yield blocks of comments, each as one text."""
    for found in re.finditer(
        r"(?:^ *# (?!SPDX|pyright|type:|ruff|noqa).*\n)+", source, re.MULTILINE
    ):
        line = source.count("\n", 0, found.start()) + 1
        yield Text(path, line, COMMENT, re.sub(r"^ *# ?", "", found[0], flags=re.MULTILINE))


def texts_of_python(path: Path) -> Iterator[Text]:
    """Yield all texts of a Python file."""
    source = path.read_text()
    yield from _strings(ast.parse(source), path)
    yield from _comments(source, path)


def texts_of_page(path: Path) -> Iterator[Text]:
    """Yield the paragraphs of a Markdown page, without code, tables and headings."""
    text = re.sub(
        r"^ *```.*?^ *```$",
        lambda code: re.sub(r".+", "", code[0]),
        path.read_text(),
        flags=re.M | re.S,
    )
    for found in re.finditer(r"(?:^.*\S.*\n?)+", text, re.MULTILINE):
        if not found[0].startswith(("#", "|", "[")):
            yield Text(path, text.count("\n", 0, found.start()) + 1, PAGE, found[0])


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text, a span of code as one word; examples are left out."""
    lines = [line for line in text.split("\n") if not re.match(r" {4,}\S.*  |\s*\|", line)]
    prose = re.sub(r"``.*?``|`[^`]*`", "`code`", "\n".join(lines), flags=re.DOTALL)
    prose = re.sub(r"\]\([^)]*\)|\*\*", "", prose)
    for paragraph in re.split(r"\n\s*\n|\n\s*(?:[-*]|\d+\.)\s", prose):
        if not re.search(r"^ {4,}\S", paragraph, re.MULTILINE):
            yield from re.split(r"(?<=[.:?!])\)?\s+", paragraph)


def _findings(text: Text) -> Iterator[str]:
    """Yield a message for each broken rule."""
    if text.kind in (FUNCTION, DEFINITION) and (reason := _reason_against_first_word(text)):
        yield reason
    for sentence in sentences(text.text):
        words = sentence.split()
        if text.kind is not MESSAGE and len(words) > RULES["longest"]:
            yield f"{len(words)} words: {' '.join(words)}"
        for pattern, better in BANNED:
            if found := pattern.search(sentence):
                yield f"{found[0].strip()} ({better}): {' '.join(words)}"


def _reason_against_first_word(text: Text) -> str | None:
    """Reason why a docstring must not begin with its first word, or None."""
    first = next(iter(text.text.split()), "")
    if first in RULES["first"] or text.text.lstrip().startswith("The same"):
        return f"begins with {first}"
    if text.kind is FUNCTION and first in RULES["determiners"]:
        return f"a function begins with a verb, not with {first}"
    return None


def texts_of(path: Path) -> Iterator[Text]:
    """Yield all texts of a Python file or of a page."""
    return texts_of_page(path) if path.suffix == ".md" else texts_of_python(path)


def findings(path: Path) -> list[str]:
    """Return a message for each broken rule in a file, with its place."""
    return [
        f"{text.path.relative_to(ROOT)}:{text.line}: {finding}"
        for text in texts_of(path)
        for finding in _findings(text)
    ]


FOLDERS = [*LAYERS, "tilewright", "benchmarks", "docs", "examples", "test"]


def files() -> Iterator[Path]:
    """Yield all Python files and pages that the rules hold for, by their names."""
    for suffix in ("py", "md"):
        yield from sorted(ROOT.glob(f"*.{suffix}"))
        for folder in FOLDERS:
            found = sorted((ROOT / folder).rglob(f"*.{suffix}"))
            yield from (path for path in found if "/." not in str(path.relative_to(ROOT)))


GROUPS: dict[str, list[Path]] = {}
for each in files():
    if each == Path(__file__):  # it has bad examples
        continue
    parts = each.relative_to(ROOT).parts
    GROUPS.setdefault("/".join(parts[:2] if len(parts) > 2 else parts[:-1]) or "root", []).append(
        each
    )


@pytest.mark.parametrize("group", GROUPS)
def test_texts_follow_the_rules(group: str):
    found = [finding for path in GROUPS[group] for finding in findings(path)]
    assert found == [], "\n".join(["see test/house/words.toml:", *found])


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ('"""What it does."""', "begins with What"),
        ('def f() -> int:\n    """The size."""', "a function begins with a verb, not with The"),
        ('"""A size that nobody reads."""', "nobody"),
        ('"""A size. """\n# An input is told apart from an output.\n', "told"),
        ('raise ValueError("this is what nobody knows")', "nobody"),
        (f'"""A size {"and a size " * 9}."""', "30 words"),
    ],
)
def test_broken_rules_are_found(tmp_path: Path, source: str, message: str):
    path = tmp_path / "example.py"
    path.write_text(source)
    assert any(message in found for text in texts_of(path) for found in _findings(text))
