# SPDX-License-Identifier: Apache-2.0
"""
Which NVRTC is loaded, and from where.

It may lie in NVIDIA's wheels, in CUDA toolkits, or where the dynamic linker looks, and there may be
several. A driver loads machine code that a compiler of its own major version made, or of an older
one: beside a driver of CUDA 12 that is NVRTC 12, even if NVRTC 13 is there too. Without a driver
the newest is taken.
Reference: CUDA Compatibility, https://docs.nvidia.com/deploy/cuda-compatibility/.
"""

import ctypes
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from tilewright.errors import TilewrightError

WHEELS = {13: "cu13", 12: "cuda_nvrtc"}
"""CUDA's major versions, the newest first, and the folders of their wheels in `nvidia`."""

EXTRAS = {13: "cuda", 12: "cuda12"}
"""The extra of this package that installs each."""

_BUILTINS = "libnvrtc-builtins.so*"

_toolkits: list[Path] = []


class NvrtcUnavailable(TilewrightError):
    """NVRTC is not installed."""

    def __init__(self, reason: str):
        majors = _majors()
        says = "" if majors[0] == max(majors) else f", for the driver of CUDA {majors[0]}"
        remedy = f"pip install 'tilewright[{EXTRAS[majors[0]]}]'{says}"
        super().__init__(f"compiling CUDA needs NVRTC, {reason}", remedy=remedy)


def use_toolkit(cuda_home: str | Path) -> None:
    """Also look for NVRTC in this CUDA toolkit; it counts only until the library is loaded."""
    _toolkits.append(Path(cuda_home))


def toolkits() -> tuple[Path, ...]:
    """Return the toolkits that were named."""
    return tuple(_toolkits)


@cache
def load() -> ctypes.CDLL:
    """Return the library. Raises `NvrtcUnavailable` where there is none, or it does not load."""
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
    """Load NVRTC from a folder; the builtins first, which it looks for by name alone."""
    try:
        for builtins in sorted(folder.glob(_BUILTINS)):
            ctypes.CDLL(str(builtins))
        return ctypes.CDLL(str(folder / _file(major)))
    except OSError as error:
        raise NvrtcUnavailable(f"and {folder / _file(major)} does not load: {error}") from None


def folders(major: int) -> Iterator[Path]:
    """Where NVRTC of a major version may lie: its wheel, then the toolkits that were named."""
    spec = find_spec("nvidia")
    for entry in (spec.submodule_search_locations or []) if spec else []:
        yield Path(entry) / WHEELS[major] / "lib"
    for home in _toolkits:
        yield home / "lib64"
        yield home / "lib"


def _file(major: int) -> str:
    return f"libnvrtc.so.{major}"


def _majors() -> list[int]:
    """Return the major versions, those first whose machine code the driver loads."""
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
