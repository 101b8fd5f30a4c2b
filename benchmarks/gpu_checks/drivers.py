# SPDX-License-Identifier: Apache-2.0
"""Stage `drivers`: the tests of every driver, which can all run only on a GPU."""

import sys
from importlib.util import find_spec

from gpu_checks.device import Device
from gpu_checks.outcome import Outcome, missing, right, wrong
from gpu_checks.places import ROOT
from gpu_checks.tool import last_line, output_of
from tilewright.codegen.runtime.gpu_backend import DRIVERS, is_installed

_TESTS = ROOT / "test" / "codegen" / "runtime" / "test_drivers.py"


def items(device: Device) -> list[str]:
    """Return the names of the drivers."""
    return list(DRIVERS) if device.is_gpu else ["simulator"]


def check(device: Device, item: str) -> Outcome:
    """
    Run all tests of the driver `item` with pytest; return the outcome, which is wrong if one fails.
    """
    if find_spec("pytest") is None:
        return missing("pytest is not installed")
    if item in DRIVERS and not is_installed(item):
        return missing(f"{item} is not installed; libcuda does without")
    # The preparations of other tests are skipped, since they need more packages.
    options = ["-q", "-p", "no:cacheprovider", "--noconftest", "--rootdir", str(ROOT)]
    options += ["-W", "default"]  # other packages' deprecations do not fail
    # In the repository's folder, Python finds our packages even if they are not installed.
    command = [sys.executable, "-m", "pytest", *options, "-k", item, str(_TESTS)]
    code, text = output_of(command, ROOT)
    failures = [line for line in text.splitlines() if line.startswith(("FAILED", "ERROR"))]
    if code or failures:
        return wrong("; ".join([*failures[:3], last_line(text)]), output=text[-4000:])
    summary = last_line(text).strip("= ")
    return right(summary) if "passed" in summary else missing(summary)
