# SPDX-License-Identifier: Apache-2.0
"""Where the CUDA toolkit is, by what the environment says and where it mostly lies."""

import os
from pathlib import Path
from shutil import which

from tilewright.codegen import nvrtc_library

_USUAL_HOME = "/usr/local/cuda"
_FOLDERS = ("bin", "compute-sanitizer")
_NSIGHT = Path("/opt/nvidia/nsight-compute")
"""Has a folder for each version."""


def use_cuda_home() -> None:
    """
    Let NVRTC and nvdisasm be found in `CUDA_HOME` too, where their packages are not installed, or
    where the toolkit mostly lies.
    """
    home = os.environ.get("CUDA_HOME") or _USUAL_HOME
    if Path(home).is_dir():
        nvrtc_library.use_toolkit(home)


def find_tool(name: str) -> str | None:
    """
    Return a program of NVIDIA's: on the PATH, in `CUDA_HOME`, where it mostly lies; None if
    nowhere.
    """
    homes = [os.environ.get("CUDA_HOME"), _USUAL_HOME]
    folders = [Path(home, folder) for home in homes if home for folder in _FOLDERS]
    folders += sorted(_NSIGHT.glob("*"), reverse=True)
    return which(name) or which(name, path=os.pathsep.join(map(str, folders)))
