# SPDX-License-Identifier: Apache-2.0
"""`docs/architecture.md` names existing files, and its picture shows the rules."""

import re

import pytest

from tilewright.tools.architecture import direct, graphs, picture, rows_of

from .test_layers import ROOT, RULES

DOCS = ROOT / "docs"
PATH = re.compile(r"`([\w./]+(?:\.py|\.cuh|\.toml|/))`")


def missing(text: str) -> list[str]:
    """Return the files and folders that `text` names and the repository lacks."""
    return [path for path in PATH.findall(text) if not (ROOT / path).exists()]


def test_the_page_names_existing_files():
    text = (DOCS / "architecture.md").read_text()
    assert missing(text) == []
    assert len(PATH.findall(text)) > 30


def test_missing_files_are_found():
    assert missing("see `passes/cost/banks.py` and `passes/no_such_room/`") == [
        "passes/no_such_room/"
    ]


def test_the_picture_shows_the_rules():
    pytest.importorskip("matplotlib")
    kept = (DOCS / "architecture.svg").read_text()
    assert parts(kept) == parts(picture(RULES)), "run python -m tilewright.tools.architecture docs"
    assert {*RULES["packages"], *RULES["rooms"]} <= {*parts(kept)}


def parts(picture: str) -> list[str]:
    """Return the labels of a picture, and the whole coordinates where its lines and boxes begin."""
    found = re.findall(r"<text[^>]*>([^<]*)</text>|<path d=\"M (\d+)\D[^ ]* (\d+)", picture)
    return [label or f"{x} {y}" for label, x, y in found]


def test_rows_and_arrows():
    graph = {"a": [], "b": ["a"], "c": ["a", "b"]}
    assert rows_of(graph) == [["a"], ["b"], ["c"]]
    assert [*direct(graph)] == [("b", "a"), ("c", "b")]
    assert graphs({"packages": {"p": []}, "rooms": {"p": [], "p.q": ["p"]}}) == {
        "packages": {"p": []},
        "rooms of p": {"p": [], "p.q": ["p"]},
    }
