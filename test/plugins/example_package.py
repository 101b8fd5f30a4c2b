# SPDX-License-Identifier: Apache-2.0
"""Installs packages of `examples/` as pip does, but into folders of their own."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "examples" / "my_pass"


def install(folder: Path, package: Path = SOURCE) -> Path:
    """
    Return the path entry, a new folder in `folder`, from which Python finds the installed package.

    What pip needs is here already: nothing is downloaded.
    """
    source, site = folder / "source", folder / "site"
    shutil.copytree(package, source)  # pip builds in place, and leaves its files there
    offline = ["--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check"]
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", *offline, "--target", site, source],
        check=True,
    )
    return site
