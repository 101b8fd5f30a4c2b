# SPDX-License-Identifier: Apache-2.0
"""
Output files of commands, which are written completely or not at all (`codegen.whole_file`).

Paths are checked before the content is computed, which may take long.
"""

import os
import sys
from pathlib import Path

from tilewright.codegen.whole_file import cannot_write, followed, write_whole
from tilewright.errors import UsageError
from tilewright.tools.output.written import note_written


def check_path(path: str | None) -> None:
    """
    Raise `UsageError` unless a file can be written at `path`; called before its content is
    computed.
    """
    if path is None or path == "-":
        return
    try:
        place = followed(Path(path))
    except OSError as err:
        raise UsageError(f"cannot write '{path}': {err.strerror}") from err
    folder = place.parent
    if not folder.is_dir():
        raise UsageError(f"cannot write '{path}': there is no folder '{folder}'")
    if place.is_dir():
        raise UsageError(f"cannot write '{path}': it is a folder")
    if place.exists() and not place.is_file():
        return  # /dev/stderr or a pipe: no file is created in its folder
    if place.is_file() and not os.access(place, os.W_OK):
        raise UsageError(f"cannot write '{path}': it is read-only")
    if not place.is_file() and not os.access(folder, os.W_OK):
        raise UsageError(f"cannot write '{path}': the folder '{folder}' is read-only")


def write_text(path: str, text: str) -> None:
    """Write a file as `write_bytes` does, or stdout if `path` is `-`."""
    if path == "-":
        sys.stdout.write(text)
        return
    write_bytes(path, text.encode())


def write_bytes(path: str, content: bytes) -> None:
    """
    Write a complete file. If that fails, the old file is unchanged and `TilewrightError` is raised.
    """
    try:
        write_whole(Path(path), content)
    except OSError as err:
        raise cannot_write(path, err) from err
    note_written(path)
