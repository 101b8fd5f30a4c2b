# SPDX-License-Identifier: Apache-2.0
"""Python's warnings on stderr, as the commands print them: `warning: MESSAGE`."""

import sys
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from typing import TextIO

from tilewright.errors import one_line


@contextmanager
def warnings_of_one_line() -> Generator[None]:
    """Print each warning of the block as one line."""
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        yield


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print a warning, with its place only if that is in the user's text, not in a library."""
    place = f"{filename}:{lineno}: " if filename == "<-c>" else ""
    print(f"{place}warning: {one_line(message)}", file=file or sys.stderr)
