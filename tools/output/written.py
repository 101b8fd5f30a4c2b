# SPDX-License-Identifier: Apache-2.0
"""
The files that a command has written, reported on stderr when it ends:

    wrote qwen: 13 kernels, 284 launches
"""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

_written: ContextVar[dict[str, str] | None] = ContextVar("written", default=None)


def note_written(path: str, what: str = "") -> None:
    """Report a file or folder at the end of the command, with a phrase on what it holds."""
    written = _written.get()
    if written is not None and (Path(path).is_file() or Path(path).is_dir()):
        written[path] = what or written.get(path, "")


@contextmanager
def reporting_written() -> Generator[None]:
    """Print what the block has written when it ends, also where it fails after that."""
    written: dict[str, str] = {}
    token = _written.set(written)
    try:
        yield
    finally:
        _written.reset(token)
        for path, what in written.items():
            print(f"wrote {path}: {what}" if what else f"wrote {path}", file=sys.stderr)
