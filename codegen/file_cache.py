# SPDX-License-Identifier: Apache-2.0
"""
What is made once and kept on disk: machine code (`*.cubin`) and compiled programs (`*.plan`).

A file is the SHA-256 of its content, then the content; its name is the SHA-256 of what the content
was made of. Files are written beside and renamed, so that other processes see a whole file or none;
what is damaged all the same is made anew. Files may be deleted at any time, and where none can be
written all is made each time. Beyond `MOST_BYTES` those that were used longest ago are deleted: a
file's time is that of its last use.

What is kept is run as it is, so the folder is the user's alone (mode 0700). A folder that belongs
to another user, or that others can write to, is not used, with a warning.

The environment's `TILEWRIGHT_CACHE` is another folder, or `off`.
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
"""Limit of the size of all files of a folder."""

KINDS = {".cubin": "machine code", ".plan": "the plan of programs"}
"""Kinds of files by the end of their names."""

VARIABLE = "TILEWRIGHT_CACHE"
"""Name of the environment variable that names the folder; `off` is no folder."""

_DIGEST_BYTES = 32


def default_folder() -> Path | None:
    """Return the user's cache folder for us, `~/.cache/tilewright` on Linux; None for no cache."""
    from platformdirs import user_cache_path

    named = os.environ.get(VARIABLE)
    if named == "off":
        return None
    return Path(named) if named else user_cache_path("tilewright")


def digest_of(parts: Iterable[str]) -> str:
    """Return the name of what is made of some texts."""
    return sha256("\0".join(parts).encode()).hexdigest()


class FileCache:
    """The files of one kind in a folder, by default the user's; none if it is not trusted."""

    def __init__(self, kind: str, folder: Path | None = None, most_bytes: int = MOST_BYTES):
        self._folder = folder or default_folder()
        self._kind = kind
        self._most_bytes = most_bytes
        if self._folder is not None and (reason := reason_against_folder(self._folder)):
            warnings.warn(f"{KINDS[kind]} is not kept: {reason}", stacklevel=3)
            self._folder = None

    def read(self, name: str) -> bytes | None:
        """Return the content of a file; None if there is none, or its digest differs."""
        if self._folder is None:
            return None
        path = self._folder / f"{name}{self._kind}"
        try:
            kept = path.read_bytes()
        except OSError:
            return None
        with suppress(OSError):  # of a folder that is not ours to write to
            os.utime(path)
        digest, content = kept[:_DIGEST_BYTES], kept[_DIGEST_BYTES:]
        return content if sha256(content).digest() == digest else None

    def write(self, name: str, content: bytes) -> None:
        """Keep it, where that is possible."""
        if self._folder is None:
            return
        try:
            self._folder.mkdir(mode=stat.S_IRWXU, parents=True, exist_ok=True)
            write_whole(self._folder / f"{name}{self._kind}", sha256(content).digest() + content)
        except OSError:
            return  # a full or read-only disk costs time, and nothing else
        _make_room(self._folder, self._most_bytes)


def reason_against_folder(folder: Path) -> str | None:
    """Reason why a folder is not trusted: others could put files into it; or None."""
    try:
        state = folder.stat()
    except OSError:
        return None  # nothing is there, or nothing can be read
    if os.name != "posix" or not stat.S_ISDIR(state.st_mode):
        return None
    if state.st_uid != os.geteuid():
        return f"the folder '{folder}' belongs to another user ({state.st_uid})"
    if state.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"others can write to the folder '{folder}': remove it, and it is made anew"
    return None


class Kept(NamedTuple):
    """A file of a folder."""

    used: float
    """When it was used last, in seconds."""
    path: Path
    bytes: int


def kept_in(folder: Path) -> Iterator[Kept]:
    """Yield the files of a folder that are ours; other processes may delete them meanwhile."""
    try:
        paths = [path for path in folder.iterdir() if path.suffix in KINDS]
    except OSError:  # there is none, or it may not be searched
        return
    for path in paths:
        with suppress(OSError):
            state = path.stat()
            yield Kept(state.st_mtime, path, state.st_size)


def clear(folder: Path) -> None:
    """
    Delete what is kept, also what processes that were killed have left. Raises `OSError`.

    A process that is writing at that moment does without, as on a full disk.
    """
    for kept in kept_in(folder):
        kept.path.unlink(missing_ok=True)
    for left in folder.glob(".????????"):  # as `tempfile` calls the folders of `write_whole`
        if left.is_dir() and {path.suffix for path in left.iterdir()} <= KINDS.keys():
            rmtree(left)


def _make_room(folder: Path, most_bytes: int) -> None:
    """Delete what was used longest ago, until the rest takes no more."""
    files = sorted(kept_in(folder))
    taken = sum(file.bytes for file in files)
    for file in files:
        if taken <= most_bytes:
            return
        with suppress(OSError):
            file.path.unlink()
        taken -= file.bytes
