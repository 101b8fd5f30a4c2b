# SPDX-License-Identifier: Apache-2.0
"""
Named stages of a long computation, for a progress line:

    with stage("simulate matmul, launch 3 of 20"):
        ...

By default no listener is installed, and a stage costs next to nothing. Stages never affect results.
"""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol


class StageListener(Protocol):
    """Listener that displays stages, which nest."""

    def entered(self, name: str) -> None:
        """
        Handle the beginning of a stage, which is inside all stages that have begun and not ended.
        """
        ...

    def left(self) -> None:
        """Handle the end of the stage that began last and has not ended."""
        ...


_listener: ContextVar[StageListener | None] = ContextVar("stages", default=None)


@contextmanager
def reporting_stages(listener: StageListener) -> Generator[None]:
    """Report the stages that begin inside the `with` block to `listener`."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def stage(name: str) -> Generator[None]:
    """Mark the `with` block as a stage called `name`: a verb and its object."""
    listener = _listener.get()
    if listener is None:
        yield
        return
    listener.entered(name)
    try:
        yield
    finally:
        listener.left()
