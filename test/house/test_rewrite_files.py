# SPDX-License-Identifier: Apache-2.0
"""
Each pass that schedules kernels has its files of tests: `<pass>.mlir`, where it does something,
`<pass>-declines.mlir`, where it does not and says why, and others whose names begin like these.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tilewright.dialects.schedule import parse_spec_list
from tilewright.passes.driver.pipelines import to_tile

PASSES = [*(spec.name for spec in parse_spec_list(to_tile())), "apply-schedule"]
FOLDER = Path(__file__).parents[1] / "passes" / "tile"

# What these leave is left to other passes to mask.
WITHOUT_MASKS = {"plan-schedules"}


def files(name: str) -> list[Path]:
    """Return the pass's files; none of them is of a pass whose name begins alike."""
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
def test_what_cannot_be_is_an_error(name: str) -> None:
    assert any(line.startswith("not opt-tool") for line in run_lines(name))


@pytest.mark.parametrize("name", PASSES)
def test_each_file_compares_what_is_computed(name: str) -> None:
    for path in files(name):
        lines = [line for line in re.findall("// RUN: (.*)", path.read_text()) if "-p" in line]
        only_errors = all(line.startswith("not ") for line in lines)
        assert only_errors or any("--check=each" in line for line in lines), path.name


@pytest.mark.parametrize("name", [name for name in PASSES if name not in WITHOUT_MASKS])
def test_some_size_does_not_divide(name: str) -> None:
    # What is beyond the end is masked.
    assert any("where [" in path.read_text() for path in files(name))
