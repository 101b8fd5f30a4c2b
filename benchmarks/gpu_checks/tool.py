# SPDX-License-Identifier: Apache-2.0
"""NVIDIA's command-line tools: where they are, and what they say."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tilewright.codegen import nvrtc
from tilewright.tools.toolkit import use_cuda_home

_FOLDERS = ("bin", "compute-sanitizer")
_ELSEWHERE = ("/usr/local/cuda/bin", "/usr/local/cuda/compute-sanitizer")
_NSIGHT = "/opt/nvidia/nsight-compute"


def find_tool(name: str) -> Path | None:
    """On the path, in the toolkits that are named, where they are mostly installed; or nowhere."""
    if (found := shutil.which(name)) is not None:
        return Path(found)
    use_cuda_home()
    in_toolkits = [home / folder / name for home in nvrtc.toolkits() for folder in _FOLDERS]
    elsewhere = [Path(folder) / name for folder in _ELSEWHERE]
    nsight = sorted(Path(_NSIGHT).glob(f"*/{name}"), reverse=True)
    return next((p for p in (*in_toolkits, *elsewhere, *nsight) if p.is_file()), None)


def output_of(command: Sequence[str | Path]) -> tuple[int, str]:
    """The exit code of a command, and all that it says. It may take as long as it likes."""
    words = [str(word) for word in command]
    try:
        done = subprocess.run(
            words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        )
    except OSError as err:
        return 127, f"{words[0]}: {err.strerror}"
    return done.returncode, done.stdout


def last_line(text: str) -> str:
    """The last line that says something."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it says nothing"


def version_in(text: str) -> str:
    """The first version number of a text: `2025.3.1`."""
    found = re.search(r"\d+\.\d+(\.\d+)*", text)
    return found[0] if found else "version unknown"
