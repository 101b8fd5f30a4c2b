# SPDX-License-Identifier: Apache-2.0
"""The driver `cuda-bindings`, checked by the tests of the driver `libcuda`."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tilewright.codegen.runtime import bindings_driver

TESTS = ("cuda_driver", "refusals", "plan_on_driver")
ROOT = Path(__file__).parents[3]


def test_it_asks_the_driver_for_the_same(fake_path: Path):
    """Run them in a process of their own: the bindings find the driver's library by its name."""
    if find_spec("cuda.bindings") is None:
        pytest.skip("cuda-bindings is not installed")
    tests = [str(Path(__file__).with_name(f"test_{name}.py")) for name in TESTS]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rs", *tests],
        cwd=ROOT,
        env={**os.environ, "LD_LIBRARY_PATH": str(fake_path.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert " passed in " in done.stdout
    assert "skipped" not in done.stdout


def test_bindings_that_are_not_there(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", None)
    assert not bindings_driver.is_importable()
