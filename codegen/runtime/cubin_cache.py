# SPDX-License-Identifier: Apache-2.0
"""
Cache of machine code on disk (`file_cache`), so that a program starts faster the next time.

The key is the CUDA text, the target, the compiler's options and its version.
"""

from collections.abc import Sequence
from pathlib import Path

from tilewright.codegen import nvrtc
from tilewright.codegen.file_cache import MOST_BYTES, FileCache, digest_of
from tilewright.codegen.launch_plan import SOURCE_NAME


class CubinCache:
    """Cached machine code in a folder, by default the user's cache folder."""

    def __init__(self, folder: Path | None = None, most_bytes: int = MOST_BYTES):
        self._files = FileCache(".cubin", folder, most_bytes)

    def cubin(self, source: str, target: str) -> bytes:
        """
        Return the machine code of a CUDA text, compiled if it is not cached.

        Raises `CudaCompileError` and `NvrtcUnavailable`.
        """
        return self.cubins([source], target)[0]

    def cubins(self, sources: Sequence[str], target: str) -> list[bytes]:
        """
        Return the machine code of several CUDA texts; texts that are not cached are compiled in
        parallel.

        Raises `CudaCompileError` and `NvrtcUnavailable`.
        """
        names = {source: _name(source, target) for source in sources}
        found = {source: self._files.read(name) for source, name in names.items()}
        missing = [source for source, cubin in found.items() if cubin is None]
        compiled = nvrtc.compile_cubins(missing, target, name=SOURCE_NAME)
        made = {source: each.cubin for source, each in zip(missing, compiled, strict=True)}
        for source, cubin in made.items():
            self._files.write(names[source], cubin)
        return [found[source] or made[source] for source in sources]

    def keep(self, source: str, target: str, cubin: bytes) -> None:
        """Add machine code that another machine has compiled to the cache."""
        name = _name(source, target)
        if self._files.read(name) is None:
            self._files.write(name, cubin)


def _name(source: str, target: str) -> str:
    major, minor = nvrtc.version()
    parts = (source, target, f"{major}.{minor}", SOURCE_NAME, *nvrtc.STANDARD_OPTIONS)
    return digest_of(parts)
