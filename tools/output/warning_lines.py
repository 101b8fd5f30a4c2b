# SPDX-License-Identifier: Apache-2.0
"""Python's warnings on stderr in the commands' format: `warning: MESSAGE`."""

import sys
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from typing import TextIO

from tilewright.errors import one_line


@contextmanager
def warnings_of_one_line() -> Generator[None]:
    """Print each warning inside the `with` block as one line."""
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
    """Print a warning; its place is printed only if it is in the user's `-c` text."""
    place = f"{filename}:{lineno}: " if filename == "<-c>" else ""
    print(f"{place}warning: {one_line(message)}", file=file or sys.stderr)
