# SPDX-License-Identifier: Apache-2.0
"""
Text files that the user names: read whole, up to a limit, because devices and pipes may be endless.
"""

import sys
from pathlib import Path
from typing import BinaryIO

from tilewright.errors import UsageError

_MAX_BYTES = 1 << 30
"""Most bytes of a text file, enough for IR of some million operations."""

_CHUNK = 1 << 24
"""Bytes that are read at once before they are checked."""


def read_text_file(path: str | Path) -> bytes:
    """
    Return the bytes of a text file, or of stdin for `-`, in any encoding.

    Raises `UsageError` if the file cannot be read, contains a NUL byte, or exceeds a gibibyte.
    """
    try:
        if path == "-":
            return _read(sys.stdin.buffer, path)
        with Path(path).open("rb") as file:
            return _read(file, path)
    except OSError as err:
        raise UsageError(f"cannot read '{path}': {err.strerror}") from err


def _read(file: BinaryIO, path: str | Path) -> bytes:
    content = bytearray()
    while chunk := file.read(_CHUNK):
        content += chunk
        if b"\0" in chunk:
            raise UsageError(f"cannot read '{path}': it is not text")
        if len(content) > _MAX_BYTES:
            raise UsageError(f"cannot read '{path}': it is longer than {_MAX_BYTES} bytes")
    return bytes(content)
