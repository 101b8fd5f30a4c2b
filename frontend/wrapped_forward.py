# SPDX-License-Identifier: Apache-2.0
"""A module whose `forward` is wrapped for a while, so that capture sees what happens within."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import wraps
from typing import Any

Forward = Callable[..., Any]


@contextmanager
def wrapped_forward(module: Any, wrap: Callable[[Forward], Forward]) -> Generator[None]:
    """Replace `module.forward` by `wrap` of it, which keeps its signature, until the exit."""
    is_own = "forward" in vars(module)
    original = module.forward
    module.forward = wraps(original)(wrap(original))
    try:
        yield
    finally:
        if is_own:
            module.forward = original
        else:
            del module.forward
