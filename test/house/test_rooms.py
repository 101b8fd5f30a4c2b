# SPDX-License-Identifier: Apache-2.0
"""Imports between folders of `dialects/` and `passes/` follow `docs/architecture.toml`."""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from .test_layers import ROOT, RULES, imports, parsed

MAY_IMPORT = {room: {*others} for room, others in RULES["rooms"].items()}

LEVELS = {"decompose", "tensor", "loop", "tile", "kernel", "cuda"}
"""Rooms of passes that do not import each other, including the rooms within them."""

PACKAGES = ("dialects", "passes")
SOURCES = [path for name in PACKAGES for path in sorted((ROOT / name).rglob("*.py"))]


def room(module: str) -> str:
    """Return the innermost room of a module or of a name in it; empty if it is in no room."""
    while module and module not in MAY_IMPORT:
        module = module.rpartition(".")[0]
    return module


def arrows(path: Path, tree: ast.AST) -> Iterator[tuple[str, str, int]]:
    """
    Yield the imports of a file from other rooms of its package: its room, the other, the line.
    """
    own = room(".".join(path.with_suffix("").parts))
    for name, line in imports(tree):
        other = room(name.removeprefix("tilewright."))
        if other.partition(".")[0] == path.parts[0] and other != own:
            yield own, other, line


def forbidden(path: Path, tree: ast.AST) -> list[str]:
    """Return the imports against the table, by file and line."""
    return [
        f"{path}:{line}: {own} does not import from {other}"
        for own, other, line in arrows(path, tree)
        if other not in MAY_IMPORT[own]
    ]


def found() -> list[tuple[Path, ast.Module]]:
    """Return all files with their syntax trees."""
    return [(path.relative_to(ROOT), parsed(path)) for path in SOURCES]


def test_rooms_import_what_the_table_allows():
    assert [line for path, tree in found() for line in forbidden(path, tree)] == []


def test_the_table_allows_no_more_than_is_imported():
    used = {(own, other) for path, tree in found() for own, other, _ in arrows(path, tree)}
    allowed = {(own, other) for own, others in MAY_IMPORT.items() for other in others}
    assert sorted(allowed - used) == []


def test_every_folder_is_a_room():
    folders = {".".join(path.parent.parts) for path, _ in found()}
    assert folders - MAY_IMPORT.keys() == set()


def test_rooms_do_not_import_each_other_in_a_circle():
    order = [*TopologicalSorter(MAY_IMPORT).static_order()]
    assert {*order} == {*MAY_IMPORT}


def test_levels_do_not_import_each_other():
    level = {name: name.split(".")[1] for name in MAY_IMPORT if name.startswith("passes.")}
    across = [
        f"{own} -> {other}"
        for own in level
        for other in MAY_IMPORT[own] & level.keys()
        if {level[own], level[other]} <= LEVELS and level[own] != level[other]
    ]
    assert across == []
    assert LEVELS <= {*level.values()}


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("passes/tile/rows.py", "from tilewright.passes.loop.fusion.plan import Plan"),
        ("passes/loop/lift.py", "def f():\n    from tilewright.passes.loop import fusion"),
        ("passes/facts/nest.py", "import tilewright.passes.cost.banks"),
        ("passes/facts/nest.py", "from tilewright.passes import get_all_passes"),
        ("dialects/axes.py", "from tilewright.dialects import loop"),
        ("dialects/loop/nest.py", "from tilewright.dialects.work import scalar_operations"),
    ],
)
def test_wrong_imports_are_found(file: str, source: str):
    (complaint,) = forbidden(Path(file), ast.parse(source))
    assert complaint.startswith(f"{file}:{len(source.splitlines())}: ")


def test_a_circle_is_found():
    circle = {**MAY_IMPORT, "passes.reporting": {"passes.tile.planner"}}
    with pytest.raises(CycleError):
        TopologicalSorter(circle).prepare()
