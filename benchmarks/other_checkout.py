# SPDX-License-Identifier: Apache-2.0
"""
Processes that import the packages of another checkout, for scripts that compare two checkouts.
"""

import os
import subprocess
import sys
from pathlib import Path


def environment_of(root: Path) -> dict[str, str]:
    """
    Return the environment of a process that imports the packages of the checkout `root`.

    Raises `SystemExit` if the process would import other packages.
    """
    environment = {**os.environ, "PYTHONPATH": str(root)}
    code = "import tilewright; print(tilewright.__file__)"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        check=True,
        env=environment,
        capture_output=True,
        text=True,
    )
    if (imported := Path(done.stdout.strip()).resolve().parents[1]) != root.resolve():
        raise SystemExit(f"error: the packages imported are those of {imported}, not {root}")
    return environment
