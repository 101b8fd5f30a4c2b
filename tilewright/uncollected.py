# SPDX-License-Identifier: Apache-2.0
"""Work that makes much and throws away little, without garbage collection."""

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Generator[None]:
    """
    Do without garbage collection until the exit.

    Operations and their uses refer to each other, and so do FX nodes: Python would walk them over
    and over, and with them all that was ever imported. Little of it is garbage before the end.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
