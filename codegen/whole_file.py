# SPDX-License-Identifier: Apache-2.0
"""
Writing files whole or not at all: a full disk, a kill or an error leaves what was there.

Content is written to a file beside, in the same folder, which is then renamed (POSIX, `rename`:
other processes see the old content or the new, and no other). A link is followed, and the file
keeps its mode and its owner. What is no file of a folder, as a pipe, is written to as it is.

A file that may be written in a folder that may not is written over, once there is room for it: this
survives a full disk, though not a kill.
"""

import ctypes
import errno
import os
import re
import stat
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tilewright.errors import TilewrightError, UsageError

_MOST_LINKS = 40
"""Links that are followed, as many as Linux follows."""

_DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/(\d+)")
"""Path of an open file of this process; `/dev/stdout` is a link to one."""

_AT_FDCWD, _RENAME_EXCHANGE = -100, 2
"""Constants of `renameat2`, linux/fcntl.h and linux/fs.h."""


_OF_THE_DEVICE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
"""Reasons for which a device fails, whatever file is named."""


def is_of_the_device(err: OSError) -> bool:
    """True if a device is full or broken, which is a failure and no mistake of the user's."""
    return err.errno in _OF_THE_DEVICE


def cannot_write(path: str | Path, err: OSError) -> TilewrightError:
    """Return the error of writing a file: a `UsageError` unless a device fails."""
    kind = TilewrightError if is_of_the_device(err) else UsageError
    return kind(f"cannot write '{path}': {err.strerror}")


def write_whole(path: Path, content: bytes) -> None:
    """Write `content` to a file. Raises `OSError`, and leaves nothing behind; makes no folder."""
    place = followed(path)
    if descriptor := _DESCRIPTOR.fullmatch(str(place)):
        _write_to_descriptor(int(descriptor[1]), content)
        return
    before = place.stat() if place.exists() else None
    if before is not None and not stat.S_ISREG(before.st_mode):
        place.write_bytes(content)
        return
    if before is not None and not os.access(place, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    try:
        _replace(place, content, before)
    except PermissionError:  # of the folder, or to give the file its owner
        if before is None:
            raise
        _write_over(place, content)


def followed(path: Path) -> Path:
    """Return the file that a path of links leads to, which need not be there. Raises `OSError`."""
    for _ in range(_MOST_LINKS):
        if _DESCRIPTOR.fullmatch(str(path)) or not path.is_symlink():
            return path
        path = path.parent / os.readlink(path)
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))


def exchange(one: Path, other: Path) -> bool:
    """Exchange two files or folders in one step; False where the system cannot (Linux can)."""
    first, second = os.fsencode(one), os.fsencode(other)
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
        return renameat2(_AT_FDCWD, first, _AT_FDCWD, second, _RENAME_EXCHANGE) == 0
    except (AttributeError, OSError, TypeError):
        return False


def _replace(place: Path, content: bytes, before: os.stat_result | None) -> None:
    with TemporaryDirectory(prefix=".", dir=place.parent) as folder:
        beside = Path(folder) / place.name
        with beside.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())  # some disks say only now that they are full
        if before is not None:
            _give_owner(beside, before)
            beside.chmod(stat.S_IMODE(before.st_mode))
        beside.replace(place)


def _give_owner(path: Path, before: os.stat_result) -> None:
    own = path.stat()
    if (own.st_uid, own.st_gid) != (before.st_uid, before.st_gid):
        os.chown(path, before.st_uid, before.st_gid)


def _write_over(place: Path, content: bytes) -> None:
    with place.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        try:
            _reserve(file.fileno(), len(content))
        except OSError:
            file.truncate(size)
            raise
        file.seek(0)
        file.write(content)
        file.truncate()


def _reserve(descriptor: int, size: int) -> None:
    if size and sys.platform == "linux":
        os.posix_fallocate(descriptor, 0, size)


def _write_to_descriptor(descriptor: int, content: bytes) -> None:
    """Write to an open file where it stands: opened anew, a file would be written over."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    with os.fdopen(os.dup(descriptor), "wb") as file:
        file.write(content)
