# SPDX-License-Identifier: Apache-2.0
"""Where a command is to write what it takes long to find out: looked at before it begins."""

import os
from pathlib import Path

from tilewright.errors import UsageError


def check_path(path: str | None) -> None:
    """Raise `UsageError` unless a file can be written there, before there is what goes into it."""
    if path is None or path == "-":
        return
    folder = Path(path).parent
    if not folder.is_dir():
        raise UsageError(f"cannot write '{path}': there is no folder '{folder}'")
    if Path(path).is_dir():
        raise UsageError(f"cannot write '{path}': it is a folder")
    if not os.access(folder, os.W_OK):
        raise UsageError(f"cannot write '{path}': the folder '{folder}' is read-only")
