# SPDX-License-Identifier: Apache-2.0
"""Hiding of a developer's downloaded models, and of the network, from commands in tests."""

import os
from tempfile import TemporaryDirectory

_EMPTY = TemporaryDirectory(prefix="tilewright-hub-")


def hide_hub() -> None:
    """Set an empty Hugging Face cache and turn the hub off, in this process and its children."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ["HF_HOME"] = _EMPTY.name
