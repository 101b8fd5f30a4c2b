# SPDX-License-Identifier: Apache-2.0
"""Temporary wrapping of a module's `forward`, so that capture observes what happens within."""

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from typing import Any

Forward = Callable[..., Any]


def forward_within(
    module: Any, mode: Callable[[], AbstractContextManager[Any]]
) -> AbstractContextManager[None]:
    """Return a context in which each call of `module.forward` runs in a new mode from `mode()`."""

    def wrap(original: Forward) -> Forward:
        def forward(*args: Any, **kwargs: Any) -> Any:
            with mode():
                return original(*args, **kwargs)

        return forward

    return wrapped_forward(module, wrap)


@contextmanager
def wrapped_forward(module: Any, wrap: Callable[[Forward], Forward]) -> Generator[None]:
    """Replace `module.forward` by `wrap` of it, with its signature, within the `with` block."""
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
