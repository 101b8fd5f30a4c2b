# SPDX-License-Identifier: Apache-2.0
"""
Warnings about code that is not compiled. Each is given once, however often its graph is called.
"""

import logging
import threading
import warnings

_LOCK = threading.Lock()
_GIVEN: set[str] = set()


class NotCompiled(UserWarning):
    """
    Warning that something runs in PyTorch instead of in compiled kernels. Results stay correct.
    """


def warn_once(message: str) -> None:
    """Warn with `message`, once only; the logger `tilewright` receives it each time."""
    logging.getLogger("tilewright").info("%s", message)
    with _LOCK:
        if message in _GIVEN:
            return
        _GIVEN.add(message)
    warnings.warn(f"tilewright: {message}", NotCompiled, stacklevel=2)


def forget() -> None:
    """Forget which warnings were given, so that tests receive them again."""
    _GIVEN.clear()
