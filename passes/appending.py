# SPDX-License-Identifier: Apache-2.0
"""Appending ops to the block that is open, at the location of what becomes of them."""

from collections.abc import Generator
from contextlib import contextmanager

from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr
from xdsl.ir import Block, Operation

from tilewright.dialects.origin import named
from tilewright.passes.titles import title


class Appending:
    """Adds ops at the end of the block that is open."""

    def __init__(self, block: Block):
        self.block = block
        self.location: LocationAttr = UNKNOWN_LOC
        """Where what is appended comes from."""

    @contextmanager
    def at(self, source: Operation) -> Generator[None]:
        """What is appended meanwhile is what `source` becomes."""
        outer, self.location = self.location, named(title(source), source.location)
        yield
        self.location = outer

    @contextmanager
    def inside(self, block: Block) -> Generator[None]:
        """What is appended meanwhile goes into `block`."""
        outer, self.block = self.block, block
        yield
        self.block = outer
