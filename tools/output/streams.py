# SPDX-License-Identifier: Apache-2.0
"""Standard streams that the shell closed, as by `>&-`: Python has None in their place."""

import atexit
import os
import sys
from typing import TextIO, cast


def open_closed_streams() -> None:
    """Replace closed standard streams: input is empty, and output is discarded."""
    sys.stdin = sys.stdin or _opened("r")
    sys.stdout = sys.stdout or _opened("w")
    sys.stderr = sys.stderr or _opened("w")


def _opened(mode: str) -> TextIO:
    """Return a stream without content, closed at the end: Python closes its own alone."""
    stream = cast(TextIO, open(os.devnull, mode, encoding="utf-8"))
    atexit.register(stream.close)
    return stream
