# SPDX-License-Identifier: Apache-2.0
"""Keeps what a developer has measured out of what commands print, here and in other processes."""

import os
from tempfile import TemporaryDirectory

_EMPTY = TemporaryDirectory(prefix="tilewright-")


def hide_own_database() -> None:
    """Have the user's data where there is none (XDG Base Directory Specification)."""
    os.environ["XDG_DATA_HOME"] = _EMPTY.name
