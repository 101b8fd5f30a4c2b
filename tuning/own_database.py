# SPDX-License-Identifier: Apache-2.0
"""The place of the user's own database, and whether it is there, without loading anything."""

from pathlib import Path


def own_database() -> Path:
    """In `~/.local/share/tilewright` on Linux; data, not a cache that may be emptied."""
    from platformdirs import user_data_path

    return user_data_path("tilewright") / "tuning.sqlite"


def may_be_there(path: Path) -> bool:
    """True if a file is there, or if its folder may not be searched."""
    try:
        return path.is_file()
    except PermissionError:
        return True
