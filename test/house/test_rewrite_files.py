# SPDX-License-Identifier: Apache-2.0
"""
Each pass that schedules kernels has test files, whose names begin with its name.

`<pass>.mlir` has kernels that it changes, and `<pass>-declines.mlir` kernels that it skips with a
reason.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tilewright.dialects.schedule import parse_spec_list
from tilewright.passes.driver.pipelines import to_tile

PASSES = [*(spec.name for spec in parse_spec_list(to_tile())), "apply-schedule"]
FOLDER = Path(__file__).parents[1] / "passes" / "tile"

# Later passes mask the results of these passes.
WITHOUT_MASKS = {"plan-schedules"}


def files(name: str) -> list[Path]:
    """Return the pass's files, without those of passes with longer names."""
    longer = [other for other in PASSES if other.startswith(f"{name}-")]
    found = FOLDER.rglob(f"{name}*.mlir")
    return [path for path in found if not any(path.stem.startswith(other) for other in longer)]


def run_lines(name: str) -> Iterator[str]:
    """Yield the RUN lines of those files that name the pass."""
    for path in files(name):
        yield from re.findall(rf"// RUN: (.*\b{name}\b.*)", path.read_text())


@pytest.mark.parametrize("name", PASSES)
def test_it_fires_and_declines(name: str) -> None:
    assert {name, f"{name}-declines"} <= {path.stem for path in files(name)}
    (declines,) = (path.read_text() for path in files(name) if path.stem == f"{name}-declines")
    assert re.search(rf"RUN: opt-tool %s -p '?{name}.* --remarks", declines)
    assert "skipped at" in declines


@pytest.mark.parametrize("name", PASSES)
def test_impossible_options_are_errors(name: str) -> None:
    assert any(line.startswith("not opt-tool") for line in run_lines(name))


@pytest.mark.parametrize("name", PASSES)
def test_each_file_compares_computed_values(name: str) -> None:
    for path in files(name):
        lines = [line for line in re.findall("// RUN: (.*)", path.read_text()) if "-p" in line]
        only_errors = all(line.startswith("not ") for line in lines)
        assert only_errors or any("--check=each" in line for line in lines), path.name


@pytest.mark.parametrize("name", [name for name in PASSES if name not in WITHOUT_MASKS])
def test_some_size_does_not_divide(name: str) -> None:
    # Elements beyond the end are masked.
    assert any("where [" in path.read_text() for path in files(name))
