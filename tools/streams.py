# SPDX-License-Identifier: Apache-2.0
"""Standard streams that the shell closed, as by `>&-`: Python has None in their place."""

import os
import sys


def open_closed_streams() -> None:
    """Replace closed standard streams: input is empty, and output is discarded."""
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")
