# SPDX-License-Identifier: Apache-2.0
"""Garbage collection disabled for code that allocates much and discards little."""

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Generator[None]:
    """
    Disable garbage collection inside the `with` block.

    Operations and their uses refer to each other, as FX nodes do. The collector would walk them
    repeatedly, together with every imported module, and find little garbage.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
