# SPDX-License-Identifier: Apache-2.0
"""What command-line tools say."""

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path


def output_of(command: Sequence[str], folder: Path | None = None) -> tuple[int, str]:
    """
    Return the exit code of a command, and all that it says; it runs in a folder, by default ours.
    It may take as long as it likes.
    """
    try:
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            cwd=folder,
        )
    except OSError as err:
        return 127, f"{command[0]}: {err.strerror}"
    return done.returncode, done.stdout


def last_line(text: str) -> str:
    """Return the last line that says something."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it says nothing"


def version_in(text: str) -> str:
    """Return the first version number of a text: `2025.3.1`."""
    found = re.search(r"\d+\.\d+(\.\d+)*", text)
    return found[0] if found else "version unknown"
