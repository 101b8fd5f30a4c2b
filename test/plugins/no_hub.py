# SPDX-License-Identifier: Apache-2.0
"""Keeps models that a developer has downloaded, and the network, out of what commands find."""

import os
from tempfile import TemporaryDirectory

_EMPTY = TemporaryDirectory(prefix="tilewright-hub-")


def hide_hub() -> None:
    """Have an empty Hugging Face cache and no hub, here and in other processes."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ["HF_HOME"] = _EMPTY.name
