# SPDX-License-Identifier: Apache-2.0
"""
Cache on disk of machine code (`*.cubin`) and compiled programs (`*.plan`).

A file holds the SHA-256 of its content, then the content. Its name is the SHA-256 of the sources
that the content was made from. A file is written beside its place and renamed: other processes see
a whole file or none. A damaged file is ignored and made again.

Users may delete files at any time. If the folder cannot be written, everything is compiled each
time. If all files exceed `MOST_BYTES`, the least recently used ones are deleted; a file's
modification time is the time of its last use.

The content is executed without further checks. Therefore the folder is created for its user alone
(mode 0700). A folder that belongs to another user, or that others can write to, is not used, with a
warning.

The environment variable `TILEWRIGHT_CACHE` names another folder, or is `off`.
"""

import os
import stat
import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from typing import NamedTuple

from tilewright.codegen.whole_file import write_whole

MOST_BYTES = 1 << 30
"""Limit of the total size of a folder's files, in bytes."""

KINDS = {".cubin": "machine code", ".plan": "the plan of a program"}
"""Kinds of cached files by file name suffix."""

VARIABLE = "TILEWRIGHT_CACHE"
"""Environment variable that names the cache folder; `off` disables the cache."""

_DIGEST_BYTES = 32


def default_folder() -> Path | None:
    """
    Return the cache folder, by default the user's (`~/.cache/tilewright` on Linux); None if the
    cache is off.
    """
    from platformdirs import user_cache_path

    named = os.environ.get(VARIABLE)
    if named == "off":
        return None
    return Path(named) if named else user_cache_path("tilewright")


def digest_of(parts: Iterable[str]) -> str:
    """
    Return the hexadecimal SHA-256 of some texts, the cache file name of content made from them.
    """
    return sha256("\0".join(parts).encode()).hexdigest()


class FileCache:
    """
    Cached files of one kind in a folder, by default the user's. If others can write to the folder,
    warn, and cache nothing.
    """

    def __init__(self, kind: str, folder: Path | None = None, most_bytes: int = MOST_BYTES):
        self._folder = folder or default_folder()
        self._kind = kind
        self._most_bytes = most_bytes
        if self._folder is not None and (reason := reason_against_folder(self._folder)):
            warnings.warn(f"{KINDS[kind]} is not cached: {reason}", stacklevel=3)
            self._folder = None

    def read(self, name: str) -> bytes | None:
        """Return the content of a cached file; None if it is missing, unreadable or damaged."""
        if self._folder is None:
            return None
        path = self._folder / f"{name}{self._kind}"
        try:
            kept = path.read_bytes()
        except OSError:
            return None
        with suppress(OSError):  # the folder may belong to another user
            os.utime(path)
        digest, content = kept[:_DIGEST_BYTES], kept[_DIGEST_BYTES:]
        return content if sha256(content).digest() == digest else None

    def write(self, name: str, content: bytes) -> None:
        """Write content to the cache; do nothing if it cannot be written."""
        if self._folder is None:
            return
        try:
            self._folder.mkdir(mode=stat.S_IRWXU, parents=True, exist_ok=True)
            write_whole(self._folder / f"{name}{self._kind}", sha256(content).digest() + content)
        except OSError:
            return  # a full or read-only disk costs only time
        _make_room(self._folder, self._most_bytes)


def reason_against_folder(folder: Path) -> str | None:
    """Reason why a folder is not trusted, because others could put files into it, or None."""
    try:
        state = folder.stat()
    except OSError:
        return None  # the folder is missing or unreadable
    if os.name != "posix" or not stat.S_ISDIR(state.st_mode):
        return None
    if state.st_uid != os.geteuid():
        return f"the folder '{folder}' belongs to another user ({state.st_uid})"
    if state.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"others can write to the folder '{folder}': delete it, and it will be created again"
    return None


class Kept(NamedTuple):
    """A cached file: the time of its last use, its path, and its size in bytes."""

    used: float
    """Time of last use, in seconds since the epoch."""
    path: Path
    bytes: int


def kept_in(folder: Path) -> Iterator[Kept]:
    """
    Yield the cached files in a folder. Files that other processes delete meanwhile are omitted.
    """
    try:
        paths = [path for path in folder.iterdir() if path.suffix in KINDS]
    except OSError:  # the folder is missing, or may not be searched
        return
    for path in paths:
        with suppress(OSError):
            state = path.stat()
            yield Kept(state.st_mtime, path, state.st_size)


def clear(folder: Path) -> None:
    """
    Delete all cached files, and temporary folders that killed processes left. Raises `OSError`.

    A process that is writing at that moment fails to cache its file, as on a full disk.
    """
    for kept in kept_in(folder):
        kept.path.unlink(missing_ok=True)
    for left in folder.glob(".????????"):  # the folders of `write_whole`
        if left.is_dir() and {path.suffix for path in left.iterdir()} <= KINDS.keys():
            rmtree(left)


def _make_room(folder: Path, most_bytes: int) -> None:
    """Delete the least recently used files until the rest takes at most `most_bytes`."""
    files = sorted(kept_in(folder))
    taken = sum(file.bytes for file in files)
    for file in files:
        if taken <= most_bytes:
            return
        with suppress(OSError):
            file.path.unlink()
        taken -= file.bytes
