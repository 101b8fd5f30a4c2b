# SPDX-License-Identifier: Apache-2.0
"""
Atomic writes of files: if the disk is full, the process is killed, or an error occurs, the old file
stays.

Content is written to a new file in a temporary folder beside the old file, which is then renamed to
it. Other processes see either the old or the new content (POSIX, `rename`). Links are followed, and
the file keeps its mode and owner. A pipe or a device is written to directly.

If the file may be written but its folder may not, the file is overwritten after space for it is
reserved. This is safe if the disk is full, but not if the process is killed.
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
"""Maximum number of links that are followed, as on Linux."""

_DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/(\d+)")
"""Pattern of paths of files that this process has open; `/dev/stdout` links to one."""

_AT_FDCWD, _RENAME_EXCHANGE = -100, 2
"""Constants of `renameat2`, linux/fcntl.h and linux/fs.h."""


_DEVICE_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
"""Numbers of errors for which a device, and not the path, is the reason."""


def is_device_error(err: OSError) -> bool:
    """True if the error is that of a full or broken device, not the user's mistake."""
    return err.errno in _DEVICE_ERRORS


def cannot_write(path: str | Path, err: OSError) -> TilewrightError:
    """
    Return the error for a file that cannot be written: a `UsageError` unless the device fails.
    """
    kind = TilewrightError if is_device_error(err) else UsageError
    return kind(f"cannot write '{path}': {err.strerror}")


def write_whole(path: Path, content: bytes) -> None:
    """
    Replace a file's content by `content`. Raises `OSError`, and then leaves the old file; creates
    no folder.
    """
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
    except PermissionError:  # the folder may not be written, or the owner may not be set
        if before is None:
            raise
        _write_over(place, content)


def followed(path: Path) -> Path:
    """
    Return the path that a path leads to through symbolic links; no file need exist there. Raises
    `OSError` for too many links.
    """
    for _ in range(_MOST_LINKS):
        if _DESCRIPTOR.fullmatch(str(path)) or not path.is_symlink():
            return path
        path = path.parent / os.readlink(path)
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))


def exchange(one: Path, other: Path) -> bool:
    """Exchange two files or folders atomically; return False if the system cannot (Linux can)."""
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
            os.fsync(file.fileno())  # some disks report only now that they are full
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
    """
    Write to the open file `descriptor` of this process, at its present position. Opening the file
    anew would overwrite it from the start.
    """
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    with os.fdopen(os.dup(descriptor), "wb") as file:
        file.write(content)
