# SPDX-License-Identifier: Apache-2.0
"""
Search for the NVRTC library, and the choice of its version.

NVRTC may be in NVIDIA's wheels, in CUDA toolkits, or on the dynamic linker's path, and several
versions may be installed. A driver loads machine code from compilers of its own major version or
older ones. With a driver of CUDA 12, NVRTC 12 is therefore preferred to NVRTC 13. Without a driver
the newest version is loaded.

Reference: CUDA Compatibility, https://docs.nvidia.com/deploy/cuda-compatibility/.
"""

import ctypes
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from tilewright.errors import TilewrightError

WHEELS = {13: "cu13", 12: "cuda_nvrtc"}
"""Supported major versions of CUDA, newest first, and the folders of their wheels in `nvidia`."""

EXTRAS = {13: "cuda", 12: "cuda12"}
"""Extra of this package that installs NVRTC, by major version of CUDA."""

_BUILTINS = "libnvrtc-builtins.so*"

_toolkits: list[Path] = []


class NvrtcUnavailable(TilewrightError):
    """The error that NVRTC is missing or does not load."""

    def __init__(self, reason: str):
        majors = _majors()
        note = "" if majors[0] == max(majors) else f", for the driver of CUDA {majors[0]}"
        remedy = f"pip install 'tilewright[{EXTRAS[majors[0]]}]'{note}"
        super().__init__(f"compiling CUDA needs NVRTC, {reason}", remedy=remedy)


def use_toolkit(cuda_home: str | Path) -> None:
    """Add a CUDA toolkit to the search for NVRTC; this has no effect once the library is loaded."""
    _toolkits.append(Path(cuda_home))


def toolkits() -> tuple[Path, ...]:
    """Return the toolkits that `use_toolkit` added."""
    return tuple(_toolkits)


@cache
def load() -> ctypes.CDLL:
    """
    Load NVRTC and return the library, of the version that fits the driver best. Raises
    `NvrtcUnavailable` if it is missing or does not load.
    """
    for major in _majors():
        for folder in folders(major):
            if (folder / _file(major)).is_file():
                return open_library(folder, major)
        try:
            return ctypes.CDLL(_file(major))
        except OSError:
            continue
    names = " nor ".join(map(_file, WHEELS))
    raise NvrtcUnavailable(f"and neither {names} is found")


def open_library(folder: Path, major: int) -> ctypes.CDLL:
    """
    Load NVRTC from a folder. Its builtins library is loaded first, because NVRTC looks it up by
    name alone.
    """
    try:
        for builtins in sorted(folder.glob(_BUILTINS)):
            ctypes.CDLL(str(builtins))
        return ctypes.CDLL(str(folder / _file(major)))
    except OSError as error:
        raise NvrtcUnavailable(f"and {folder / _file(major)} does not load: {error}") from None


def folders(major: int) -> Iterator[Path]:
    """
    Yield the folders that may contain NVRTC of a major version: first its wheel's, then those of
    added toolkits.
    """
    spec = find_spec("nvidia")
    for entry in (spec.submodule_search_locations or []) if spec else []:
        yield Path(entry) / WHEELS[major] / "lib"
    for home in _toolkits:
        yield home / "lib64"
        yield home / "lib"


def _file(major: int) -> str:
    return f"libnvrtc.so.{major}"


def _majors() -> list[int]:
    """
    Return the supported major versions, best first: those whose machine code the driver loads,
    newest first, then newer ones.
    """
    newest = driver_major() or max(WHEELS)
    return sorted(WHEELS, key=lambda major: (major > newest, -major))


@cache
def driver_major() -> int | None:
    """Return the major version of CUDA that the driver supports; None without a driver."""
    try:
        library = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    version = ctypes.c_int()
    failed = library.cuDriverGetVersion(ctypes.byref(version))
    return None if failed else version.value // 1000
