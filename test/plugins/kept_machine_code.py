# SPDX-License-Identifier: Apache-2.0
"""
Results of NVRTC and nvdisasm, kept between tests, processes and runs in pytest's cache.

A result depends on the text, the options and the installed packages alone, and is kept under a
digest of these. Errors are not kept. `pytest --cache-clear` removes all.
"""

import ctypes
import os
import pickle
import time
import zlib
from collections.abc import Callable
from functools import cache, lru_cache
from hashlib import sha256
from importlib.metadata import distributions
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from tilewright.codegen import nvrtc, nvrtc_library
from tilewright.codegen.report import disassemble

DAYS = 14
"""Days after which a result that no run has used is removed."""

_PTX = vars(nvrtc)["_compiled"]
_CUBIN = vars(nvrtc)["_compiled_cubin"]
_PRINTED = vars(disassemble)["_output"]


def keep_machine_code(folder: Path) -> None:
    """Keep the results of this process's tests in a folder, and use those that are there."""
    ptx = kept(_PTX.__wrapped__, folder, _compiled_code)
    cubin = kept(_CUBIN.__wrapped__, folder, _compiled_code)
    printed = kept(_PRINTED, folder, _printed_code)

    def cubin_with_ptx(request: Any) -> Any:
        made = cubin(request)
        vars(nvrtc)["_recent_cubins"][request] = made
        return made

    most = _PTX.cache_info().maxsize
    setattr(nvrtc, "_compiled", lru_cache(most)(ptx))
    setattr(nvrtc, "_compiled_cubin", lru_cache(most)(cubin_with_ptx))
    setattr(disassemble, "_output", printed)


def _printed_code(program: Path, path: str) -> tuple[object, ...]:
    """Return what the output of nvdisasm depends on."""
    return (
        vars(disassemble)["_OPTIONS"],
        _version_of(program),
        sha256(Path(path).read_bytes()).hexdigest(),
    )


def _compiled_code(request: tuple[object, ...]) -> tuple[object, ...]:
    """Return what a result of NVRTC depends on."""
    return *request, _compiler(nvrtc_library.load())


@cache
def _compiler(library: ctypes.CDLL) -> tuple[object, ...]:
    """Return what all results of a library depend on: its headers are in packages too."""
    packages = sorted(f"{each.name} {each.version}" for each in distributions())
    return nvrtc.version(), _version_of(Path(library._name)), packages


def _version_of(program: Path) -> tuple[object, ...]:
    """Return the name of a program and its state."""
    if not program.exists():
        return (str(program),)
    status = program.stat()
    return str(program), status.st_size, status.st_mtime_ns


def remove_unused(folder: Path) -> None:
    """Remove the results that no run has used for long."""
    oldest = time.time() - DAYS * 24 * 3600
    with os.scandir(folder) as files:
        unused = [file.path for file in files if file.stat().st_mtime < oldest]
    for path in unused:
        Path(path).unlink(missing_ok=True)  # another process may have done it


def kept(
    compute: Callable[..., Any], folder: Path, needs: Callable[..., tuple[object, ...]]
) -> Callable[..., Any]:
    """
    Return a function that calls `compute` only if the folder has no result for what it `needs`.
    """

    def answer(*inputs: Any) -> Any:
        key = repr((compute.__qualname__, needs(*inputs)))
        file = folder / sha256(key.encode()).hexdigest()
        known = _read(file)
        if known is None:
            known = [compute(*inputs)]
            _write(file, zlib.compress(pickle.dumps(known), 1))
        return known[0]

    return answer


def _read(file: Path) -> list[Any] | None:
    """Return what a file has; None without a file, or with half a file."""
    try:
        known = pickle.loads(zlib.decompress(file.read_bytes()))
        os.utime(file)
    except (OSError, ValueError, EOFError, zlib.error, pickle.UnpicklingError):
        return None
    return known


def _write(file: Path, content: bytes) -> None:
    """Write a file at once: other processes see all of it or nothing."""
    with NamedTemporaryFile(dir=file.parent, delete=False) as new:
        new.write(content)
    os.replace(new.name, file)
