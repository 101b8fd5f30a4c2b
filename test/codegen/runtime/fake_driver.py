# SPDX-License-Identifier: Apache-2.0
"""Controls of the fake CUDA driver: read its log of calls, and set its answers."""

import ctypes
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tilewright.codegen.runtime.cubin_cache import CubinCache


class FakeDriver:
    """Fake driver: the library from `built_library`, loaded."""

    def __init__(self, path: Path):
        self.path = path
        self.library = ctypes.CDLL(str(path))
        self.library.fake_log.restype = ctypes.c_char_p
        self.library.fake_reset()

    def log(self) -> list[str]:
        """Return the calls since the last `log`, one line each, and reset the driver."""
        lines = self.library.fake_log().decode().splitlines()
        self.library.fake_reset()
        return lines

    def fail(self, function: str, status: int) -> None:
        """Make a function return `status` until the next `log`."""
        self.library.fake_fail(function.encode(), status)

    def clusters(self, active: int) -> None:
        """Make the GPU hold `active` clusters at a time until the next `log`."""
        self.library.fake_clusters(active)

    def version(self, number: int) -> None:
        """Make the driver report version `number` until the next `log`."""
        self.library.fake_version(number)


class NoCompiler(CubinCache):
    """Cache of dummy cubins, sufficient for the fake driver; NVRTC would call that driver."""

    def cubins(self, sources: Sequence[str], target: str) -> list[bytes]:
        return [b"\x7fELF"] * len(sources)


def is_fake(library: str) -> bool:
    """True if the dynamic linker resolves this name to a library from `built_library`."""
    try:
        return hasattr(ctypes.CDLL(library), "fake_log")
    except OSError:
        return False


def built_library(source: Path, folder: Path) -> Path | None:
    """Compile `source` with the real driver's header; None without a compiler or `cuda.h`."""
    compiler, headers = shutil.which("cc"), _header_folder()
    if compiler is None or headers is None:
        return None
    path = folder / "libcuda.so.1"
    options = ["-shared", "-fPIC", "-Wall", "-Werror", f"-I{headers}"]
    subprocess.run([compiler, *options, "-o", str(path), str(source)], check=True)
    return path


def _header_folder() -> Path | None:
    """Return the folder that contains `cuda.h`, or None."""
    nvcc = shutil.which("nvcc")
    homes = [os.environ.get("CUDA_HOME"), nvcc and str(Path(nvcc).resolve().parents[1])]
    folders = [Path(home) / "include" for home in (*homes, "/usr/local/cuda") if home]
    return next((folder for folder in folders if (folder / "cuda.h").is_file()), None)
