# SPDX-License-Identifier: Apache-2.0
"""Where the user's own database is. To ask whether it is there loads nothing."""

from pathlib import Path


def own_database() -> Path:
    """In `~/.local/share/tilewright` on Linux; data, not a cache that may be emptied."""
    from platformdirs import user_data_path

    return user_data_path("tilewright") / "tuning.sqlite"
