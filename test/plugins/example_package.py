# SPDX-License-Identifier: Apache-2.0
"""Installation of packages of `examples/` with pip, into folders of their own."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "examples" / "my_pass"


def install(folder: Path, package: Path = SOURCE) -> Path:
    """
    Install a package into a new folder in `folder`; return that folder, a path entry for Python.

    Nothing is downloaded: the tools that pip needs are installed already.
    """
    source, site = folder / "source", folder / "site"
    shutil.copytree(package, source)  # pip builds in place, and leaves files there
    offline = ["--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check"]
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", *offline, "--target", site, source],
        check=True,
    )
    return site
