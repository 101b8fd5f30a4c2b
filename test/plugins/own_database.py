# SPDX-License-Identifier: Apache-2.0
"""Keeps what a developer has measured or compiled out of what commands do, also in processes."""

import os
from tempfile import TemporaryDirectory

_EMPTY = TemporaryDirectory(prefix="tilewright-")


def hide_own_database() -> None:
    """Have the user's data where there is none (XDG Base Directory Specification), and no cache."""
    os.environ["XDG_DATA_HOME"] = _EMPTY.name
    os.environ["TILEWRIGHT_CACHE"] = "off"
