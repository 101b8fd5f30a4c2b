# SPDX-License-Identifier: Apache-2.0
"""
Hiding of a developer's measurements and compiled kernels from commands in tests and their children.
"""

import os
from tempfile import TemporaryDirectory

_EMPTY = TemporaryDirectory(prefix="tilewright-")


def hide_own_database() -> None:
    """
    Set an empty folder for the user's data (XDG Base Directory Specification), and turn the cache
    off.
    """
    os.environ["XDG_DATA_HOME"] = _EMPTY.name
    os.environ["TILEWRIGHT_CACHE"] = "off"
