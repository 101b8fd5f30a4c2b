# SPDX-License-Identifier: Apache-2.0
"""A driver of NVIDIA's without a GPU: what it was asked, and what it shall answer."""

import ctypes
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tilewright.codegen.runtime.cubin_cache import CubinCache


class FakeDriver:
    """The library that `built_library` makes, loaded."""

    def __init__(self, path: Path):
        self.path = path
        self.library = ctypes.CDLL(str(path))
        self.library.fake_log.restype = ctypes.c_char_p
        self.library.fake_reset()

    def log(self) -> list[str]:
        """What was asked since the last look, a line for each call."""
        lines = self.library.fake_log().decode().splitlines()
        self.library.fake_reset()
        return lines

    def fail(self, function: str, status: int) -> None:
        """Let a function fail until the next look at the log."""
        self.library.fake_fail(function.encode(), status)

    def clusters(self, active: int) -> None:
        """Let the GPU hold so many clusters at a time until the next look at the log."""
        self.library.fake_clusters(active)

    def version(self, number: int) -> None:
        """Let the driver be of another version until the next look at the log."""
        self.library.fake_version(number)


class NoCompiler(CubinCache):
    """Machine code as far as the fake driver looks at it. NVRTC would try to use that driver."""

    def cubins(self, sources: Sequence[str], target: str) -> list[bytes]:
        return [b"\x7fELF"] * len(sources)


def is_fake(library: str) -> bool:
    """True if the dynamic linker finds by this name what `built_library` makes."""
    try:
        return hasattr(ctypes.CDLL(library), "fake_log")
    except OSError:
        return False


def built_library(source: Path, folder: Path) -> Path | None:
    """`source` compiled with the real driver's header; None without a compiler or that header."""
    compiler, headers = shutil.which("cc"), _header_folder()
    if compiler is None or headers is None:
        return None
    path = folder / "libcuda.so.1"
    options = ["-shared", "-fPIC", "-Wall", "-Werror", f"-I{headers}"]
    subprocess.run([compiler, *options, "-o", str(path), str(source)], check=True)
    return path


def _header_folder() -> Path | None:
    """Where `cuda.h` is."""
    nvcc = shutil.which("nvcc")
    homes = [os.environ.get("CUDA_HOME"), nvcc and str(Path(nvcc).resolve().parents[1])]
    folders = [Path(home) / "include" for home in (*homes, "/usr/local/cuda") if home]
    return next((folder for folder in folders if (folder / "cuda.h").is_file()), None)
