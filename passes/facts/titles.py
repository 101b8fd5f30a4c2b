# SPDX-License-Identifier: Apache-2.0
"""
What a reader would call an op: its name and the memory, axis or value that it is about.

    tile.stage %as
    tile.combine %sum across %t, %i
    loop.reduce %ko
    loop.load %x
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation, SSAValue

from tilewright.dialects import loop, tile
from tilewright.dialects.kernel.ring import RingType


def title(op: Operation) -> str:
    """An op in few words; what a loop or a stage yields belongs to it."""
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
    """The op, and the first of `values` that has a name."""
    name = next((v.name_hint for v in values if v.name_hint), None)
    return f"{op.name} %{name}" if name else op.name


def _name(value: SSAValue) -> str:
    return f"%{value.name_hint or '?'}"


def _memory(op: Operation) -> Iterator[SSAValue]:
    """The memory and the rings that an op acts on."""
    return (value for value in op.operands if isinstance(value.type, MemRefType | RingType))


def _axes(op: Operation) -> Sequence[SSAValue]:
    """The axes of a loop or nest."""
    return op.regions[0].block.args if op.regions and op.regions[0].blocks else ()
