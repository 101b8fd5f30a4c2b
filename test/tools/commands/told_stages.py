# SPDX-License-Identifier: Apache-2.0
"""The stages that a command reports, which its progress line shows on a terminal."""

from collections.abc import Generator
from contextlib import contextmanager

from tilewright.stages import reporting_stages


class _Told:
    def __init__(self) -> None:
        self.names: list[str] = []

    def entered(self, name: str) -> None:
        """Keep the name."""
        self.names.append(name)

    def left(self) -> None:
        """Nothing is kept of an end."""


@contextmanager
def told_stages() -> Generator[list[str]]:
    """Collect the names of the stages of the block."""
    told = _Told()
    with reporting_stages(told):
        yield told.names
