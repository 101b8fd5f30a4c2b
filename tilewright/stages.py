# SPDX-License-Identifier: Apache-2.0
"""
The stages of a long computation, for a progress line:

    with stage("simulate matmul, launch 3 of 20"):
        ...

By default there is no listener, and a stage costs next to nothing. Results never depend on it.
"""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol


class StageListener(Protocol):
    """A display of stages, which nest."""

    def entered(self, name: str) -> None:
        """A stage begins inside of those that have begun and not ended."""
        ...

    def left(self) -> None:
        """The innermost stage ends."""
        ...


_listener: ContextVar[StageListener | None] = ContextVar("stages", default=None)


@contextmanager
def reporting_stages(listener: StageListener) -> Generator[None]:
    """Report the stages of this block to `listener`."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def stage(name: str) -> Generator[None]:
    """Report that the block does what `name` says: a verb and its object."""
    listener = _listener.get()
    if listener is None:
        yield
        return
    listener.entered(name)
    try:
        yield
    finally:
        listener.left()
