# SPDX-License-Identifier: Apache-2.0
"""
Detection of the functions and kernels of a module that changed since the previous call.

Passes need not report their changes. Every object in a part is recorded and compared. For an
unchanged kernel, this takes a tenth of the time of verification.
"""

from collections.abc import Iterator
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation
from xdsl.traits import SymbolUserOpInterface


class _Seen(NamedTuple):
    contents: list[object]
    """
    Ops, blocks, values, attributes and types of the part. The list keeps them alive, so that none
    of them can have been replaced by another at the same address.
    """
    names_others: bool
    """True if ops in the part refer to symbols, whose definitions decide if they are valid."""


_NOTHING = _Seen([], False)


class Changes:
    """A record of a module, with which its next state is compared."""

    def __init__(self) -> None:
        self._seen: dict[Operation, _Seen] = {}
        self._faces: dict[Operation, object] = {}

    def since_last(self, module: ModuleOp) -> list[Operation]:
        """
        Return the parts of `module` that changed since the previous call; all parts at the first
        call.

        If the interface of any part changed, all parts that name symbols are included.
        """
        faces = {part: _face(part) for part in module.ops}
        same_faces = faces == self._faces
        seen = {part: self._look(part) for part in module.ops}
        changed = [
            part
            for part, now in seen.items()
            if now is not self._seen.get(part) or (now.names_others and not same_faces)
        ]
        self._seen, self._faces = seen, faces
        return changed

    def _look(self, part: Operation) -> _Seen:
        """Return the record of `part`, or a new one if it changed."""
        before, contents = self._seen.get(part, _NOTHING), [*_contents(part)]
        return before if before.contents == contents else _Seen(contents, _names_others(part))


def _face(part: Operation) -> object:
    """Return the interface of a part, which is visible where it is named: all except its body."""
    arguments: list[Attribute] = []
    for region in part.regions:
        if region.first_block is not None:
            arguments.extend(region.first_block.arg_types)
    return dict(part.properties), dict(part.attributes), arguments


def _contents(part: Operation) -> Iterator[object]:
    for op in part.walk():
        yield op
        yield op.parent
        yield from op.operands
        yield from op.result_types
        yield from op.properties.items()
        yield from op.attributes.items()
        yield from op.successors
        for region in op.regions:
            yield region
            for block in region.blocks:
                yield block
                yield from block.arg_types


def _names_others(part: Operation) -> bool:
    return any(op.has_trait(SymbolUserOpInterface) for op in part.walk())
