# SPDX-License-Identifier: Apache-2.0
"""Temporary replacement of a function of PyTorch."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any


@contextmanager
def replaced(module: Any, name: str, wrap: Callable[[Any], Any]) -> Generator[None]:
    """
    Replace `name` in a module by `wrap` of its value within the `with` block, if the module has it.
    """
    value = getattr(module, name, None)
    if value is None:
        yield
        return
    setattr(module, name, wrap(value))
    try:
        yield
    finally:
        setattr(module, name, value)
