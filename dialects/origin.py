# SPDX-License-Identifier: Apache-2.0
"""
Where an op comes from, in its location: the node of PyTorch's graph, the module whose call it was
part of, and the user's line.

    loc("mul"("layers.0.norm: LlamaRMSNorm"("model.py":7:0)))
"""

from typing import NamedTuple

from xdsl.dialects.builtin import LocationAttr, NameLoc, StringAttr
from xdsl.ir import Attribute


class ModuleOfOp(NamedTuple):
    """The innermost module that an op was called in."""

    path: str
    """Where it is in the program: `layers.0.norm`; empty for the program itself."""
    name: str
    """Its class."""


class Origin(NamedTuple):
    """A node of PyTorch's graph."""

    node: str
    module: ModuleOfOp | None
    """None where a function, rather than a module, was captured."""


def located(origin: Origin, line: LocationAttr) -> NameLoc:
    """The location of an op that comes from `origin`."""
    if origin.module is not None:
        line = NameLoc(StringAttr(f"{origin.module.path}: {origin.module.name}"), line)
    return NameLoc(StringAttr(origin.node), line)


def origin_of(location: Attribute) -> Origin | None:
    """What `located` put into a location; None if it is another."""
    if not isinstance(location, NameLoc):
        return None
    node, inner = location.desc.data, location.location
    if not isinstance(inner, NameLoc):
        return Origin(node, None)
    path, _, name = inner.desc.data.rpartition(": ")
    return Origin(node, ModuleOfOp(path, name))
