# SPDX-License-Identifier: Apache-2.0
"""
Machine code on disk, by what it was made of, so that a program starts faster the next time.

A file is the SHA-256 of the machine code, then the machine code; its name is the SHA-256 of the
CUDA text, the target, the compiler's options and its version. Files are written beside and renamed,
so that other processes see a whole file or none; what is damaged all the same is made anew. Files
may be deleted at any time, and where none can be written the compiler runs each time. Beyond
`MOST_BYTES` those that were used longest ago are deleted: a file's time is that of its last use.

Machine code is run as it is, so the folder is the user's alone (mode 0700). A folder that belongs
to another user, or that others can write to, is not used, with a warning.
"""

import os
import stat
import warnings
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from tilewright.codegen import nvrtc
from tilewright.codegen.launch_plan import SOURCE_NAME
from tilewright.codegen.whole_file import write_whole

MOST_BYTES = 1 << 30
"""What the files of a folder take together."""

_DIGEST_BYTES = 32


def default_folder() -> Path:
    """The user's cache folder for us: `~/.cache/tilewright` on Linux."""
    from platformdirs import user_cache_path

    return user_cache_path("tilewright")


class CubinCache:
    """The machine code in a folder, by default the user's cache folder."""

    def __init__(self, folder: Path | None = None, most_bytes: int = MOST_BYTES):
        self.folder = folder or default_folder()
        self.most_bytes = most_bytes

    def cubin(self, source: str, target: str) -> bytes:
        """The machine code of CUDA text. Raises `CudaCompileError` and `NvrtcUnavailable`."""
        path = self._path(source, target)
        if path is not None and (found := _read(path)) is not None:
            return found
        cubin = nvrtc.compile_cubin(source, target, name=SOURCE_NAME).cubin
        if path is not None:
            self._write(path, cubin)
        return cubin

    def keep(self, source: str, target: str, cubin: bytes) -> None:
        """What another machine has compiled, which need not be compiled here."""
        path = self._path(source, target)
        if path is not None and _read(path) is None:
            self._write(path, cubin)

    def _path(self, source: str, target: str) -> Path | None:
        """Return the file for CUDA text; None, with a warning, if the folder is not trusted."""
        if reason := distrust(self.folder):
            warnings.warn(f"machine code is not kept: {reason}", stacklevel=3)
            return None
        return self.folder / f"{_key(source, target)}.cubin"

    def _write(self, path: Path, cubin: bytes) -> None:
        try:
            path.parent.mkdir(mode=stat.S_IRWXU, parents=True, exist_ok=True)
            write_whole(path, sha256(cubin).digest() + cubin)
        except OSError:
            return  # a full or read-only disk costs time, and nothing else
        _make_room(path.parent, self.most_bytes)


def distrust(folder: Path) -> str:
    """Return the reason why others could put machine code into a folder; empty if they cannot."""
    try:
        state = folder.stat()
    except OSError:
        return ""  # nothing is there, or nothing can be read
    if os.name != "posix" or not stat.S_ISDIR(state.st_mode):
        return ""
    if state.st_uid != os.geteuid():
        return f"the folder '{folder}' belongs to another user ({state.st_uid})"
    if state.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"others can write to the folder '{folder}': remove it, and it is made anew"
    return ""


def total_bytes(folder: Path) -> int:
    """What the machine code in a folder takes."""
    return sum(file.bytes for file in _files(folder))


def _key(source: str, target: str) -> str:
    major, minor = nvrtc.version()
    parts = (source, target, f"{major}.{minor}", SOURCE_NAME, *nvrtc.STANDARD_OPTIONS)
    return sha256("\0".join(parts).encode()).hexdigest()


def _read(path: Path) -> bytes | None:
    """What a file holds; None if there is none, or it is not what was written."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    with suppress(OSError):  # of a folder that is not ours to write to
        os.utime(path)
    digest, cubin = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
    return cubin if sha256(cubin).digest() == digest else None


class _File(NamedTuple):
    used: float
    """When it was used last."""
    path: Path
    bytes: int


def _files(folder: Path) -> list[_File]:
    """Those of a folder; other processes may delete them meanwhile."""
    found: list[_File] = []
    try:
        paths = [*folder.glob("*.cubin")]
    except PermissionError:  # the folder may not be searched
        return []
    for path in paths:
        with suppress(OSError):
            state = path.stat()
            found.append(_File(state.st_mtime, path, state.st_size))
    return found


def _make_room(folder: Path, most_bytes: int) -> None:
    """Delete what was used longest ago, until the rest takes no more."""
    files = sorted(_files(folder))
    taken = sum(file.bytes for file in files)
    for file in files:
        if taken <= most_bytes:
            return
        with suppress(OSError):
            file.path.unlink()
        taken -= file.bytes
