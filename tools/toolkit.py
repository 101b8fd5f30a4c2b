# SPDX-License-Identifier: Apache-2.0
"""Location of the CUDA toolkit, by environment variables and its usual folders."""

import os
from pathlib import Path
from shutil import which

from tilewright.codegen import nvrtc_library

_USUAL_HOME = "/usr/local/cuda"
_FOLDERS = ("bin", "compute-sanitizer")
_NSIGHT = Path("/opt/nvidia/nsight-compute")
"""Folder of Nsight Compute, with a subfolder for each version."""


def use_cuda_home() -> None:
    """
    Add the CUDA toolkit in `CUDA_HOME`, or else in the usual folder, to the places where NVRTC and
    nvdisasm are searched. It serves machines without their Python packages.
    """
    home = os.environ.get("CUDA_HOME") or _USUAL_HOME
    if Path(home).is_dir():
        nvrtc_library.use_toolkit(home)


def find_tool(name: str) -> str | None:
    """
    Return the path of a program of NVIDIA's, searched on the PATH, in `CUDA_HOME` and in the usual
    folders; None if it is not found.
    """
    homes = [os.environ.get("CUDA_HOME"), _USUAL_HOME]
    folders = [Path(home, folder) for home in homes if home for folder in _FOLDERS]
    folders += sorted(_NSIGHT.glob("*"), reverse=True)
    return which(name) or which(name, path=os.pathsep.join(map(str, folders)))
