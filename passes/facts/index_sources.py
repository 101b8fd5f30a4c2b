# SPDX-License-Identifier: Apache-2.0
"""Which indices decide where an access goes, also through data that is made an index."""

from collections.abc import Iterable

from xdsl.dialects.builtin import IndexType, MemRefType
from xdsl.ir import Operation, SSAValue

from tilewright.dialects import loop


def index_sources(indices: Iterable[SSAValue]) -> set[SSAValue]:
    """
    The indices that `indices` are computed from: they themselves, but for data, which stands for
    those of the loads and casts that it comes from. The result of a loop stands for itself.
    """
    found, pending = set[SSAValue](), [*indices]
    while pending:
        value = pending.pop()
        is_data = not isinstance(value.type, IndexType) or isinstance(value.owner, loop.ToIndexOp)
        if isinstance(value.type, MemRefType):
            continue
        if is_data and isinstance(value.owner, Operation) and not value.owner.regions:
            pending += value.owner.operands
        else:
            found.add(value)
    return found
