# SPDX-License-Identifier: Apache-2.0
"""The path of the user's own database, found without heavy imports."""

from pathlib import Path


def own_database() -> Path:
    """
    Return the path, in `~/.local/share/tilewright` on Linux: data, not a cache that may be emptied.
    """
    from platformdirs import user_data_path

    return user_data_path("tilewright") / "tuning.sqlite"


def may_be_there(path: Path) -> bool:
    """True if a file exists, or if its folder may not be searched."""
    try:
        return path.is_file()
    except PermissionError:
        return True
