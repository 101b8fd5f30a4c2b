# SPDX-License-Identifier: Apache-2.0
"""Warnings about what is not compiled: each is given once, however often its graph is called."""

import logging
import threading
import warnings

_LOCK = threading.Lock()
_TOLD: set[str] = set()


class NotCompiled(UserWarning):
    """Something runs in PyTorch instead of in kernels of ours. Results are as right as before."""


def tell(message: str) -> None:
    """Warn, unless that was said before; the logger `tilewright` hears it each time."""
    logging.getLogger("tilewright").info("%s", message)
    with _LOCK:
        if message in _TOLD:
            return
        _TOLD.add(message)
    warnings.warn(f"tilewright: {message}", NotCompiled, stacklevel=2)


def forget() -> None:
    """Say everything again, as tests need it."""
    _TOLD.clear()
