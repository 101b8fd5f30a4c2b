# SPDX-License-Identifier: Apache-2.0
"""Appending ops to the open block, at the location of the op that they replace."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain

from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr, MemRefType
from xdsl.ir import Block, Operation, SSAValue

from tilewright.dialects import loop, tile
from tilewright.dialects.kernel.ring import RingType
from tilewright.dialects.origin import named


class Appending:
    """A builder that adds ops at the end of the open block."""

    def __init__(self, block: Block):
        self.block = block
        self.source: Operation | None = None
        """Op that the appended ops replace."""
        self._location: LocationAttr | None = UNKNOWN_LOC

    @property
    def location(self) -> LocationAttr:
        """Location of the appended ops, computed at its first use."""
        if self._location is None:
            assert self.source is not None
            self._location = named(title(self.source), self.source.location)
        return self._location

    @contextmanager
    def at(self, source: Operation) -> Generator[None]:
        """Give ops that are appended inside this context the location of `source`."""
        outer = self.source, self._location
        self.source, self._location = source, None
        yield
        self.source, self._location = outer

    def at_each(self, sources: Iterable[Operation]) -> Iterator[Operation]:
        """Yield `sources`; ops appended after each one get its location."""
        outer = self.source, self._location
        for source in sources:
            self.source, self._location = source, None
            yield source
        self.source, self._location = outer

    @contextmanager
    def inside(self, block: Block) -> Generator[None]:
        """Append to `block` inside this context."""
        outer, self.block = self.block, block
        yield
        self.block = outer


def title(op: Operation) -> str:
    """
    Return a title of an op for readers: its name and the memory, axis or value that it is about.
    The terminator of a loop or a stage has the title of its parent.

        tile.stage %as
        tile.combine %sum across %t, %i
        loop.reduce %ko
        loop.load %x
    """
    parent = op.parent_op()
    if isinstance(op, loop.YieldOp) and parent is not None:
        return title(parent)
    words = _words(op)
    return f"{words} in {title(parent)}" if isinstance(parent, tile.StageOp) else words


def _words(op: Operation) -> str:
    match op:
        case tile.StageOp():
            return _named(op, [op.slab])
        case tile.CombineOp():
            return f"{_named(op, op.results)} across {', '.join(map(_name, op.axes))}"
        case tile.LaunchOp():
            return op.name
        case _:
            return _named(op, chain(_memory(op), _axes(op)[:1], op.results))


def _named(op: Operation, values: Iterable[SSAValue]) -> str:
    """Return the name of the op with the first name hint among `values`."""
    name = next((v.name_hint for v in values if v.name_hint), None)
    return f"{op.name} %{name}" if name else op.name


def _name(value: SSAValue) -> str:
    return f"%{value.name_hint or '?'}"


def _memory(op: Operation) -> Iterator[SSAValue]:
    """Yield the memory and the rings that an op acts on."""
    return (value for value in op.operands if isinstance(value.type, MemRefType | RingType))


def _axes(op: Operation) -> Sequence[SSAValue]:
    """Return the axes of a loop or nest."""
    return op.regions[0].block.args if op.regions and op.regions[0].blocks else ()
