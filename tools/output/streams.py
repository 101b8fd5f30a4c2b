# SPDX-License-Identifier: Apache-2.0
"""Standard streams that the shell closed, for example by `>&-`; Python sets them to None."""

import atexit
import os
import sys
from typing import TextIO, cast


def open_closed_streams() -> None:
    """Replace closed standard streams by an empty input and outputs that are discarded."""
    sys.stdin = sys.stdin or _opened("r")
    sys.stdout = sys.stdout or _opened("w")
    sys.stderr = sys.stderr or _opened("w")


def _opened(mode: str) -> TextIO:
    """Return a stream on the null device that is closed at exit."""
    stream = cast(TextIO, open(os.devnull, mode, encoding="utf-8"))
    atexit.register(stream.close)
    return stream
