# SPDX-License-Identifier: Apache-2.0
"""Output of command-line tools."""

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path


def output_of(command: Sequence[str], folder: Path | None = None) -> tuple[int, str]:
    """
    Return the exit code of a command and its output. It runs in `folder`, by default in the current
    one, without a time limit.
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
    """Return the last line that is not blank."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it prints nothing"


def version_in(text: str) -> str:
    """Return the first version number in a text: `2025.3.1`."""
    found = re.search(r"\d+\.\d+(\.\d+)*", text)
    return found[0] if found else "version unknown"
