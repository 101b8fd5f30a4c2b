# SPDX-License-Identifier: Apache-2.0
"""The out-of-tree pass of `examples/my_pass`: installed, found by name, and right."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from example_package import ROOT, SOURCE, install
from run_lines import run_lines

TEST_FILE = SOURCE / "merge-reductions.mlir"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the package is installed."""
    return install(tmp_path_factory.mktemp("my_pass"))


def shell(command: str, site: Path) -> subprocess.CompletedProcess[str]:
    """Run a command line with the package installed, as someone who types it would."""
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


@pytest.mark.parametrize("line", list(run_lines(TEST_FILE.read_text())))
def test_its_run_lines(line: str, site: Path):
    done = shell(line.replace("%s", str(TEST_FILE)), site)
    assert done.returncode == 0, done.stderr
    assert "remark" not in done.stderr  # every function was compared


def test_the_check_sees_a_wrong_merge(site: Path, tmp_path: Path):
    """If its condition on the monoids were missing, a maximum of sums would become a maximum."""
    broken = tmp_path / "site"
    shutil.copytree(site, broken)
    module = broken / "merge_reductions.py"
    condition = "if outer.monoid != inner.monoid:"
    assert condition in module.read_text()
    module.write_text(module.read_text().replace(condition, "if False:"))
    done = shell(f"opt-tool {TEST_FILE} -p merge-reductions --check=each", broken)
    assert done.returncode == 1
    changed = "error: pass 'merge-reductions' changed what @mixed computes"
    assert done.stderr.splitlines()[-1].startswith(changed)
