# SPDX-License-Identifier: Apache-2.0
"""The out-of-tree pass of `examples/my_pass`: installed, found by name, and right."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from example_package import ROOT, SOURCE

from tilewright.passes import get_all_passes
from tilewright.tools.run_lines import run_in_terminal, run_lines
from tilewright.universe import UNIVERSE

TEST_FILE = SOURCE / "merge-reductions.mlir"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package outside of the repository."""
    return shutil.copytree(SOURCE, tmp_path_factory.mktemp("outside") / "my_pass")


def shell(command: str, site: Path) -> subprocess.CompletedProcess[str]:
    """Run a command line in a shell with the package installed, as a user would."""
    bin = Path(sys.executable).parent
    environment = os.environ | {
        "PATH": os.pathsep.join([str(bin), os.environ["PATH"]]),
        "PYTHONPATH": os.pathsep.join([str(site), str(ROOT)]),
    }
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        env=environment,
        capture_output=True,
        text=True,
    )


def test_every_function_is_compared(site: Path, monkeypatch: pytest.MonkeyPatch):
    prepend: Callable[[Path], None] = getattr(monkeypatch, "syspath_prepend")
    prepend(site)
    # Tools look for passes when they start, and this process has started already.
    monkeypatch.setattr(UNIVERSE, "all_passes", get_all_passes())
    (line,) = (line for line in run_lines(TEST_FILE.read_text()) if "--check=each" in line)
    command, _, _ = line.replace("%s", str(TEST_FILE)).partition("|")
    done = run_in_terminal(command)
    assert done.code == 0, done.out
    assert b"remark" not in done.out


def test_lit_runs_a_folder_outside_of_the_repository(site: Path, folder: Path):
    # lit hides PYTHONPATH from its commands: a user installs the package on Python's path.
    with (folder / "lit.cfg.py").open("a") as config:
        config.write(
            f'config.environment["PYTHONPATH"] = {os.pathsep.join([str(site), str(ROOT)])!r}'
        )
    done = shell(f"lit -v {folder}", site)
    assert done.returncode == 0, done.stdout
    assert "PASS: my-pass :: merge-reductions.mlir (1 of 1)" in done.stdout


def test_pytest_runs_a_folder_outside_of_the_repository(site: Path, folder: Path):
    wrong = (folder / "merge-reductions.mlir").read_text().replace("dims [1, 2]", "dims [1, 3]")
    (folder / "wrong.mlir").write_text(wrong)
    done = shell(f"cd {folder} && python -m pytest -q", site)
    (folder / "wrong.mlir").unlink()
    assert done.returncode == 1
    assert "1 failed, 1 passed" in done.stdout
    assert "FAILED wrong.mlir::RUN" in done.stdout
    assert "dims [1, 3]" in done.stdout
    assert "Traceback" not in done.stdout


def test_the_check_sees_a_wrong_merge(site: Path, tmp_path: Path):
    """Without its condition on the monoids, a maximum of sums would become a maximum."""
    broken = tmp_path / "site"
    shutil.copytree(site, broken)
    module = broken / "merge_reductions.py"
    condition = "if outer.monoid != inner.monoid:"
    assert condition in module.read_text()
    module.write_text(module.read_text().replace(condition, "if False:"))
    done = shell(f"opt-tool {TEST_FILE} -p merge-reductions --check=each", broken)
    assert done.returncode == 1
    changed = "error: pass 'merge-reductions' changed what @mixed computes"
    last = done.stderr.splitlines()[-1]
    assert re.match(rf"{re.escape(str(TEST_FILE))}:\d+:\d+: {changed}", last)
