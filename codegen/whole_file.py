# SPDX-License-Identifier: Apache-2.0
"""Writing files that other processes read: they see the old content or the new, and no other."""

from pathlib import Path
from tempfile import TemporaryDirectory


def write_whole(path: Path, content: bytes) -> None:
    """
    Write a file beside and rename it. Raises `OSError` where that cannot be, and leaves nothing
    behind; the folder has to be there.
    """
    with TemporaryDirectory(prefix=".", dir=path.parent) as folder:
        beside = Path(folder) / path.name
        beside.write_bytes(content)
        beside.replace(path)
