# SPDX-License-Identifier: Apache-2.0
"""Folders of tests mirror the folders of the code, and a module's test has the module's name."""

from collections.abc import Iterable
from pathlib import Path, PurePosixPath

import pytest

from .test_layers import FOLDERS, ROOT

DATA = {
    "codegen/report/kernels": "CUDA kernels that are reported on",
    "codegen/simulator/kernels": "CUDA kernels, with the bugs to plant in them",
    "codegen/simulator/pairs": "CUDA kernels with a bug, and their twins without",
    "codegen/simulator/tile": "kernels in Tile IR that get bugs by rule",
    "codegen/simulator/tile_sm_80": "kernels in Tile IR for sm_80 that get bugs by rule",
    "passes/cuda/hand_written": "kernels in Kernel IR that are simulated",
    "passes/kernel/Inputs": "modules that RUN lines read",
    "passes/loop/Inputs": "modules that RUN lines read",
    "passes/tile/kernels": "kernels in Tile IR, with what they compute in PyTorch",
    "passes/tile/schedules": "generators of schedules",
}
"""Folders without tests in Python, and their contents."""


def paths(root: Path, pattern: str) -> list[PurePosixPath]:
    """Return the files of the mirrored packages below `root`, relative to it."""
    found = (path for package in FOLDERS for path in sorted((root / package).rglob(pattern)))
    files = (path.relative_to(root) for path in found if path.is_file())
    return [PurePosixPath(path) for path in files if "__pycache__" not in path.parts]


MODULES = paths(ROOT, "*.py")
FILES = paths(ROOT / "test", "*")
TESTS = [path for path in FILES if path.match("test_*.py")]


def without_a_twin(files: Iterable[PurePosixPath], modules: Iterable[PurePosixPath]) -> list[str]:
    """Return complaints about folders of tests that mirror neither a package nor a module."""
    twins = {path for module in modules for path in (module.parent, module.with_suffix(""))}
    kept = {
        file.parent for file in files if file.match("test_*.py") or str(file.parent) not in DATA
    }
    return [f"test/{folder}: no {folder}/ nor {folder}.py" for folder in sorted(kept - twins)]


def misplaced(tests: Iterable[PurePosixPath], modules: Iterable[PurePosixPath]) -> list[str]:
    """Return complaints about tests that are not in the folder of the module with their name."""
    homes: dict[tuple[str, str], list[PurePosixPath]] = {}
    for module in modules:
        homes.setdefault((module.parts[0], f"test_{module.stem}"), []).append(module.parent)
    found = ((test, homes.get((test.parts[0], test.stem), [test.parent])) for test in tests)
    return [
        f"test/{test}: belongs in {' or '.join(f'test/{folder}' for folder in folders)}"
        for test, folders in found
        if test.parent not in folders
    ]


def test_every_folder_of_tests_mirrors_one_of_the_code():
    assert without_a_twin(FILES, MODULES) == []


def test_every_test_of_a_module_lies_where_the_module_does():
    assert misplaced(TESTS, MODULES) == []


def test_every_folder_of_data_exists():
    assert {*DATA} <= {str(file.parent) for file in FILES}


_CODE = [PurePosixPath("passes/tile/planner/tilings.py"), PurePosixPath("dialects/scalar.py")]


@pytest.mark.parametrize(
    "file",
    ["passes/tile/plans/test_a.py", "passes/tilings/a.mlir", "passes/tile/kernels/test_a.py"],
)
def test_a_folder_of_its_own_is_found(file: str):
    folder = file.rpartition("/")[0]
    found = without_a_twin([PurePosixPath(file)], _CODE)
    assert found == [f"test/{folder}: no {folder}/ nor {folder}.py"]


@pytest.mark.parametrize("file", ["passes/tile/planner/test_a.py", "dialects/scalar/a.mlir"])
def test_a_folder_with_a_twin_is_fine(file: str):
    assert without_a_twin([PurePosixPath(file)], _CODE) == []


def test_a_test_apart_from_its_module_is_found():
    apart = [PurePosixPath("passes/tile/test_tilings.py"), PurePosixPath("tools/test_tilings.py")]
    beside = [PurePosixPath("passes/tile/planner/test_tilings.py")]
    assert misplaced([*apart, *beside], _CODE) == [
        "test/passes/tile/test_tilings.py: belongs in test/passes/tile/planner"
    ]
