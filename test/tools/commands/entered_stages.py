# SPDX-License-Identifier: Apache-2.0
"""Collects the stages that a command reports, which its progress line shows on a terminal."""

from collections.abc import Generator
from contextlib import contextmanager

from tilewright.stages import reporting_stages


class _Names:
    def __init__(self) -> None:
        self.names: list[str] = []

    def entered(self, name: str) -> None:
        """Keep the name."""
        self.names.append(name)

    def left(self) -> None:
        """Ignore the end of a stage."""


@contextmanager
def entered_stages() -> Generator[list[str]]:
    """Yield the list of the names of stages that the block enters."""
    listener = _Names()
    with reporting_stages(listener):
        yield listener.names
