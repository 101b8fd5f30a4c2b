# SPDX-License-Identifier: Apache-2.0
"""Appending ops to the block that is open, at the location of what becomes of them."""

from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager

from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr
from xdsl.ir import Block, Operation

from tilewright.dialects.origin import named
from tilewright.passes.facts.titles import title


class Appending:
    """Adds ops at the end of the block that is open."""

    def __init__(self, block: Block):
        self.block = block
        self.source: Operation | None = None
        """The op that the appended ops replace."""
        self._location: LocationAttr | None = UNKNOWN_LOC

    @property
    def location(self) -> LocationAttr:
        """Where what is appended comes from; found out when it is asked for."""
        if self._location is None:
            assert self.source is not None
            self._location = named(title(self.source), self.source.location)
        return self._location

    @contextmanager
    def at(self, source: Operation) -> Generator[None]:
        """What is appended meanwhile is what `source` becomes."""
        outer = self.source, self._location
        self.source, self._location = source, None
        yield
        self.source, self._location = outer

    def at_each(self, sources: Iterable[Operation]) -> Iterator[Operation]:
        """Yield `sources`; what is appended after each is what that becomes."""
        outer = self.source, self._location
        for source in sources:
            self.source, self._location = source, None
            yield source
        self.source, self._location = outer

    @contextmanager
    def inside(self, block: Block) -> Generator[None]:
        """What is appended meanwhile goes into `block`."""
        outer, self.block = self.block, block
        yield
        self.block = outer
