# SPDX-License-Identifier: Apache-2.0
"""
Machine code on disk, by what it was made of, so that a program starts faster the next time.

A file is the SHA-256 of the machine code, then the machine code; its name is the SHA-256 of the
CUDA text, the target, the compiler's options and its version. Files are written beside and renamed,
so that other processes see a whole file or none; what is damaged all the same is made anew. Files
may be deleted at any time, and where none can be written the compiler runs each time.
"""

from hashlib import sha256
from pathlib import Path

from tilewright.codegen import nvrtc
from tilewright.codegen.launch_plan import SOURCE_NAME
from tilewright.codegen.whole_file import write_whole

_DIGEST_BYTES = 32


def default_folder() -> Path:
    """The user's cache folder for us: `~/.cache/tilewright` on Linux."""
    from platformdirs import user_cache_path

    return user_cache_path("tilewright")


class CubinCache:
    """The machine code in a folder, by default the user's cache folder."""

    def __init__(self, folder: Path | None = None):
        self.folder = folder or default_folder()

    def cubin(self, source: str, target: str) -> bytes:
        """The machine code of CUDA text. Raises `CudaCompileError` and `NvrtcUnavailable`."""
        path = self.folder / f"{_key(source, target)}.cubin"
        if (found := _read(path)) is not None:
            return found
        cubin = nvrtc.compile_cubin(source, target, name=SOURCE_NAME).cubin
        _write(path, cubin)
        return cubin

    def keep(self, source: str, target: str, cubin: bytes) -> None:
        """What another machine has compiled, which need not be compiled here."""
        path = self.folder / f"{_key(source, target)}.cubin"
        if _read(path) is None:
            _write(path, cubin)


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
    digest, cubin = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
    return cubin if sha256(cubin).digest() == digest else None


def _write(path: Path, cubin: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, sha256(cubin).digest() + cubin)
    except OSError:
        return  # a full or read-only disk costs time, and nothing else
