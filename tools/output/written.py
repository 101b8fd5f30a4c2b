# SPDX-License-Identifier: Apache-2.0
"""
Report on stderr of the files that a command has written, at its end:

    wrote qwen: 13 kernels, 284 launches
"""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

_written: ContextVar[dict[str, str] | None] = ContextVar("written", default=None)


def note_written(path: str, what: str = "") -> None:
    """
    Record a written file or folder for the report at the end, with an optional phrase on its
    content.
    """
    written = _written.get()
    if written is not None and (Path(path).is_file() or Path(path).is_dir()):
        written[path] = what or written.get(path, "")


@contextmanager
def reporting_written() -> Generator[None]:
    """Report the files written inside the `with` block when it ends, even if it fails."""
    written: dict[str, str] = {}
    token = _written.set(written)
    try:
        yield
    finally:
        _written.reset(token)
        for path, what in written.items():
            print(f"wrote {path}: {what}" if what else f"wrote {path}", file=sys.stderr)
