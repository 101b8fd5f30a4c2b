# SPDX-License-Identifier: Apache-2.0
"""Pyright gets the files whose types may have changed."""

from pathlib import Path

import changed_types
import pytest
from changed_types import Sources

FILES = {
    "lib/package/__init__.py": "from .base import Base",
    "lib/package/base.py": "class Base: ...",
    "lib/package/part.py": "from package import Base",
    "lib/package/deep/__init__.py": "",
    "lib/package/deep/leaf.py": "from ..part import (\n    Base,  # of another file\n)",
    "test/helper.py": "import package.deep.leaf as leaf",
    "test/alone.py": "import json",
    "test/inside.py": "def f():\n    import helper",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A folder with the files."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def states(tree: Path) -> dict[str, str]:
    found = Sources([tree / "lib", tree / "test"], [tree / "lib"]).states()
    return {str(Path(file).relative_to(tree)): state for file, state in found.items()}


@pytest.mark.parametrize(
    ("changed", "others"),
    [
        ("test/alone.py", ()),
        ("test/inside.py", ()),
        ("test/helper.py", ("test/inside.py",)),
        ("lib/package/deep/__init__.py", ("test/helper.py", "test/inside.py")),
        ("lib/package/part.py", ("lib/package/deep/leaf.py", "test/helper.py", "test/inside.py")),
        (
            "lib/package/base.py",
            (
                "lib/package/__init__.py",
                "lib/package/part.py",
                "lib/package/deep/leaf.py",
                "test/helper.py",
                "test/inside.py",
            ),
        ),
    ],
)
def test_a_change_reaches_what_imports_it(tree: Path, changed: str, others: tuple[str, ...]):
    before = states(tree)
    assert [*before] == sorted(FILES)
    with (tree / changed).open("a") as file:
        file.write("\n")
    after = states(tree)
    assert {name for name in FILES if before[name] != after[name]} == {changed, *others}


def test_a_file_that_an_import_finds_first_is_a_change(tree: Path):
    before = states(tree)
    (tree / "test" / "json.py").write_text("")
    after = states(tree)
    assert {name for name in FILES if before[name] != after[name]} == {"test/alone.py"}


def test_only_what_changed_is_checked_and_errors_are_not_kept(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    codes, given = [1, 0, 0], list[int]()

    def checked(files: list[str]) -> int:
        given.append(len(files))
        return codes.pop(0)

    found = Sources([tree / "lib", tree / "test"], [tree / "lib"])
    monkeypatch.setattr(changed_types, "KEPT", tree / "types.json")
    monkeypatch.setattr(changed_types, "sources", lambda: found)
    monkeypatch.setattr(changed_types, "checked", checked)
    assert changed_types.main() == 1
    assert changed_types.main() == 0
    assert changed_types.main() == 0  # without pyright
    (tree / "test" / "helper.py").write_text("import package")
    assert changed_types.main() == 0
    assert given == [8, 8, 2]
    assert "pyright: 2 of 8 files may have other types" in capsys.readouterr().out
    monkeypatch.setattr(changed_types, "surroundings", lambda: "another version")
    codes.append(0)
    assert changed_types.main() == 0
    assert given == [8, 8, 2, 8]
