# SPDX-License-Identifier: Apache-2.0
"""
The origin of an op, encoded in its location: node of PyTorch's graph, called module, and user's
line.

    loc("mul"("layers.0.norm: LlamaRMSNorm"("model.py":7:0)))

From Kernel IR down, the op of Tile IR that it was lowered from comes first:

    loc("tile.stage %xs"("mm"("model.py":7:0)))
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple, TypeVar

from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    LocationAttr,
    NameLoc,
    NoneAttr,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute, Operation

Op = TypeVar("Op", bound=Operation)

_NUMBER = re.compile(r"(_\d+)+$")


class ModuleOfOp(NamedTuple):
    """The innermost module whose call contains an op."""

    path: str
    """Path of the module in the program, such as `layers.0.norm`; empty for the program itself."""
    name: str
    """Name of the module's class."""


class Origin(NamedTuple):
    """A node of PyTorch's graph, with the module that contains it."""

    node: str
    module: ModuleOfOp | None
    """The innermost module; None if a function rather than a module was captured."""


def without_number(name: str) -> str:
    """Return the name of a node or kernel without its number: `softmax` for `softmax_3`."""
    return _NUMBER.sub("", name)


def located(origin: Origin, line: LocationAttr) -> NameLoc:
    """Return the location of an op that comes from `origin`."""
    if origin.module is not None:
        line = NameLoc(StringAttr(f"{origin.module.path}: {origin.module.name}"), line)
    return NameLoc(StringAttr(origin.node), line)


def origin_of(location: Attribute) -> Origin | None:
    """Return the origin that `located` put into a location; None if the location has none."""
    if not isinstance(location, NameLoc):
        return None
    node, inner = location.desc.data, location.location
    if not isinstance(inner, NameLoc):
        return Origin(node, None)
    path, _, name = inner.desc.data.rpartition(": ")
    return Origin(node, ModuleOfOp(path, name))


@lru_cache(maxsize=1 << 12)  # the ops of a kernel share a few names
def named(what: str, location: LocationAttr) -> NameLoc:
    """Return the location of ops lowered from an op at `location`; `what` describes that op."""
    is_known = not isinstance(location, UnknownLoc)
    return NameLoc(StringAttr(what), location if is_known else NoneAttr())


def from_same(old: Operation, new: Op) -> Op:
    """Give `new` the location of `old`, and return it."""
    new.location = old.location
    return new


def file_place(location: Attribute) -> str:
    """Return the place in a file that a location names: `FILE:LINE:COL`; empty if it names none."""
    match location:
        case FileLineColLoc():
            place = f"{location.filename.data}:{location.line.data}"
            return f"{place}:{location.column.data}" if location.column.data else place
        case NameLoc():
            return file_place(location.location)
        case CallSiteLoc():
            return file_place(location.callee)
        case FusedLoc(locations=ArrayAttr() as parts):
            return next((place for part in parts if (place := file_place(part))), "")
        case _:
            return ""


def place_of(op: Operation) -> str:
    """Return `FILE:LINE:COL` of an op, or of the nearest op around it that has a place; else ""."""
    around: Operation | None = op
    while around is not None:
        if place := file_place(around.location):
            return place
        around = around.parent_op()
    return ""


@lru_cache(maxsize=1 << 12)  # several statements come from one op
def story(location: Attribute) -> str:
    """
    Return the name that `named` recorded, followed by its origin:

        kernel.copy_async %x of tile.stage %xs, mm, layers.0: Linear, model.py:7

    If the origin's first name begins with the recorded name, the name is printed once: `loop.load
    %x in tile.stage %xs of mm, model.py:7`.
    """
    if not isinstance(location, NameLoc):
        return ""
    what, origin = location.desc.data, [*_parts(location.location)]
    if origin and origin[0].startswith(what):
        what = origin.pop(0)
    return f"{what} of {', '.join(origin)}" if origin else what


def _parts(location: Attribute) -> Iterator[str]:
    """Yield the names that a location consists of, from the op to the line."""
    match location:
        case NameLoc():
            yield location.desc.data
            yield from _parts(location.location)
        case FileLineColLoc():
            yield f"{location.filename.data}:{location.line.data}"
        case FusedLoc(locations=ArrayAttr() as parts):
            found = ([*_parts(part)] for part in parts)
            yield from next(filter(None, found), list[str]())
        case _:
            pass
