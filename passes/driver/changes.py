# SPDX-License-Identifier: Apache-2.0
"""
Which functions and kernels of a module have changed since one last looked.

Nobody has to say what he changes: all that a part consists of is remembered, object by object, and
compared. Of a kernel that is as it was this takes a tenth of the time that verifying it would.
"""

from collections.abc import Iterator
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation
from xdsl.traits import SymbolUserOpInterface


class _Seen(NamedTuple):
    contents: list[object]
    """Its ops, blocks, values, attributes and types. As they are held here, none of them can have
    been replaced by another at the same address."""
    names_others: bool
    """True if ops in it are well-formed only if what they name is."""


_NOTHING = _Seen([], False)


class Changes:
    """Remembers a module, and says what has become of it."""

    def __init__(self) -> None:
        self._seen: dict[Operation, _Seen] = {}
        self._faces: dict[Operation, object] = {}

    def since_last(self, module: ModuleOp) -> list[Operation]:
        """
        Return the parts of `module` that are not as they were at the last call; at the first call
        all.

        Where the face of any part has changed, those that name others are among them.
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
        """What was seen of `part` if that is still so."""
        before, contents = self._seen.get(part, _NOTHING), [*_contents(part)]
        return before if before.contents == contents else _Seen(contents, _names_others(part))


def _face(part: Operation) -> object:
    """What others see of a part that they name: all but what is inside."""
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
