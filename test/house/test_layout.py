# SPDX-License-Identifier: Apache-2.0
"""The layout of the tree that the wheel, the type checker and readers expect."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
FOLDERS: dict[str, str] = PROJECT["tool"]["setuptools"]["package-dir"]
TOP_LEVEL = {name: folder for name, folder in FOLDERS.items() if name != "tilewright"}
PACKAGED = [path for folder in FOLDERS.values() for path in sorted((ROOT / folder).rglob("*"))]
PYTHON = [path for path in PACKAGED if path.suffix == ".py"]
TESTS = sorted((ROOT / "test").rglob("*.py"))


def relative(path: Path) -> str:
    """Return the path as it is shown in test names."""
    return str(path.relative_to(ROOT))


def test_every_package_is_in_the_wheel():
    found = {
        ".".join([name, *init.parent.relative_to(ROOT / folder).parts])
        for name, folder in FOLDERS.items()
        for init in (ROOT / folder).rglob("__init__.py")
    }
    assert sorted(PROJECT["tool"]["setuptools"]["packages"]) == sorted(found)


def test_every_folder_with_python_is_a_package():
    assert [relative(p) for p in PYTHON if not (p.parent / "__init__.py").exists()] == []


def test_every_data_file_is_in_the_wheel():
    patterns = PROJECT["tool"]["setuptools"]["package-data"]["*"]
    data = [p for p in PACKAGED if p.is_file() and "__pycache__" not in p.parts]
    data = [p for p in data if p.suffix != ".py"]
    assert [relative(p) for p in data if not any(p.match(pattern) for pattern in patterns)] == []


def test_the_type_checker_sees_every_module():
    links = ROOT / "typings" / "tilewright"
    expected = {folder: ROOT / folder for folder in TOP_LEVEL.values()}
    expected |= {path.name: path for path in (ROOT / "tilewright").glob("*.py")}
    assert {link.name: link.resolve() for link in links.iterdir() if link.is_symlink()} == expected
    # pyright does not follow links below the folders it is given.
    folders = {
        str(links.relative_to(ROOT)),
        *(f"typings/tilewright/{name}" for name in TOP_LEVEL.values()),
    }
    assert folders | {"test", "benchmarks"} == {*PROJECT["tool"]["pyright"]["include"]}


def test_every_file_has_a_licence_and_a_docstring():
    silent = [
        relative(path)
        for path in PYTHON + TESTS
        if not re.match(r'# SPDX-License-Identifier: Apache-2.0\nr?"""', path.read_text())
    ]
    assert silent == []


def test_passes_keep_their_annotations_as_types():
    # With string annotations, xDSL makes an option `x: float | None` a required one.
    passes = (ROOT / "passes").rglob("*.py")
    strings = "from __future__ import annotations"
    assert [relative(p) for p in passes if strings in p.read_text()] == []


_READERS = {"codegen/file_cache.py": "where the user's files lie, as XDG's variables say"}
"""Files outside of tools that read the environment, and their reasons."""


def test_the_environment_is_read_in_tools_only():
    readers = [p for p in PYTHON if "os.environ" in p.read_text() or "os.getenv" in p.read_text()]
    others = {relative(p) for p in readers if p.relative_to(ROOT).parts[0] != "tools"}
    assert others == {*_READERS}


_WRITERS = {
    "codegen/whole_file.py": "writes files whole",
    "models/folder.py": "writes a folder whole, which is renamed",
    "tools/run_lines.py": "redirects the output of a test to a file, as a shell does",
}
"""Files that may write files themselves, and their reasons; all others call them."""

_WRITING = re.compile(
    r"""\.write_(text|bytes)\(|(?<!fd)open\([^)\n]*["'][wax]b?\+?["']|\.savefig\(path|shutil\.copy"""
)


def test_files_are_written_whole_or_not_at_all():
    writers = {relative(path) for path in PYTHON if _WRITING.search(path.read_text())}
    assert writers == {*_WRITERS}


@pytest.mark.parametrize(
    "line", ["path.write_text(x)", 'open(p, "w")', "p.open('wb')", 'p.open("x")', "f.savefig(path)"]
)
def test_writing_is_found(line: str):
    assert _WRITING.search(line)
