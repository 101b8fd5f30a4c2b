# SPDX-License-Identifier: Apache-2.0
"""The files that commands write: looked at before they are made, which may take long."""

import os
import sys
from pathlib import Path

from tilewright.errors import UsageError
from tilewright.tools.written import note_written


def check_path(path: str | None) -> None:
    """Raise `UsageError` unless a file can be written there, before there is what goes into it."""
    if path is None or path == "-":
        return
    place, folder = Path(path), Path(path).parent
    if not folder.is_dir():
        raise UsageError(f"cannot write '{path}': there is no folder '{folder}'")
    if place.is_dir():
        raise UsageError(f"cannot write '{path}': it is a folder")
    if place.exists() and not place.is_file():
        return  # /dev/stderr, or a pipe: nothing is made in its folder
    if place.is_file() and not os.access(place, os.W_OK):
        raise UsageError(f"cannot write '{path}': it is read-only")
    if not place.is_file() and not os.access(folder, os.W_OK):
        raise UsageError(f"cannot write '{path}': the folder '{folder}' is read-only")


def write_text(path: str, text: str) -> None:
    """Write a file, or stdout for `-`; `UsageError` if that cannot be."""
    if path == "-":
        sys.stdout.write(text)
        return
    write_bytes(path, text.encode())


def write_bytes(path: str, content: bytes) -> None:
    """Write a file; `UsageError` if that cannot be."""
    try:
        Path(path).write_bytes(content)
    except OSError as err:
        raise UsageError(f"cannot write '{path}': {err.strerror}") from err
    note_written(path)
