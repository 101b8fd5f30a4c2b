# SPDX-License-Identifier: Apache-2.0
"""
How combines are done.

Threads of a block join values along some of their axes by shuffles where they lie side by side in
a warp, else through shared memory. Blocks join in ways of their own (`tile.Join`), and at one time
all those combines of which none needs the result of another:

    %a = tile.combine %x across %s with add : f32
    %m = arith.mulf %a, %a : f32
    %y = loop.load ...
    %b = tile.combine %y across %s with max : f32

are joined at once if they stand side by side, which `stand_together` makes them do:

    %y = loop.load ...
    %a = tile.combine %x across %s with add : f32
    %b = tile.combine %y across %s with max : f32
    %m = arith.mulf %a, %a : f32
"""

from collections.abc import Container, Iterable, Sequence
from enum import Enum, auto
from math import prod
from typing import NamedTuple

from xdsl.ir import Operation, SSAValue

from tilewright.dialects import tile
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.target import WARP_SIZE
from tilewright.dialects.tile.attributes import Axis


class JoinGroup(NamedTuple):
    """Combines that are joined at once."""

    ops: Sequence[tile.CombineOp]
    """In order."""
    ahead: Sequence[Operation]
    """What stands between them and is needed by one of them."""
    rest: Sequence[Operation]
    """What comes after the first of them, and neither is one nor needed by one."""

    def stand_together(self) -> None:
        """Move the later ones, and what they need, up to the first."""
        first = last = self.ops[0]
        block = first.parent
        assert block is not None
        for op in self.ahead:
            op.detach()
            block.insert_op_before(op, first)
        for op in self.ops[1:]:
            op.detach()
            block.insert_op_after(op, last)
            last = op


def join_groups(combines: Iterable[tile.CombineOp]) -> list[JoinGroup]:
    """Return the groups of combines of one block, which are given in its order."""
    groups: list[list[tile.CombineOp]] = []
    for op in combines:
        if groups and not _needed_by([op], within=groups[-1]):
            groups[-1].append(op)
        else:
            groups.append([op])
    return [_group(ops) for ops in groups]


def _group(ops: Sequence[tile.CombineOp]) -> JoinGroup:
    later = following(ops[0])
    ahead = _needed_by(ops[1:], within=later) if ops[1:] else set[Operation]()
    rest = [op for op in later if op not in ops and op not in ahead]
    return JoinGroup(ops, [op for op in later if op in ahead and op not in ops], rest)


def _needed_by(ops: Sequence[Operation], *, within: Container[Operation]) -> set[Operation]:
    """Return the ops of the same block whose results `ops` depend on, by way of others too."""
    found: set[Operation] = set()
    seen: set[Operation] = set()
    ahead = list(ops)
    while ahead:
        used = [value.owner for inner in ops_in(ahead.pop()) for value in inner.operands]
        for owner in used:
            op = _of_block(owner, ops[0])
            if op is None or op in seen:
                continue
            seen.add(op)
            ahead.append(op)
            if op in within:
                found.add(op)
    return found


def _of_block(owner: object, sibling: Operation) -> Operation | None:
    """Return the op if it stands in the block of `sibling`."""
    return owner if isinstance(owner, Operation) and owner.parent is sibling.parent else None


def following(op: Operation) -> list[Operation]:
    """What stands after `op` in its block, in order."""
    found: list[Operation] = []
    while (later := op.next_op) is not None:
        found.append(later)
        op = later
    return found


class ThreadJoin(Enum):
    """How threads join their values."""

    NONE = auto()
    """Each has its own already."""
    SHUFFLE = auto()
    """Within segments of a warp."""
    WARPS = auto()
    """Within warps, then one slot of shared memory for each warp."""
    SHARED = auto()
    """One slot of shared memory for each thread."""


def join_across(axes: Sequence[Axis], across: Sequence[SSAValue]) -> ThreadJoin:
    """How threads along `axes`, the last fastest, join across those of them in `across`."""
    joined = [axis.value in across for axis in axes]
    threads = prod(axis.extent for axis in axes)
    width = prod(a.extent for a, j in zip(axes, joined, strict=True) if j)
    if width == 1:
        return ThreadJoin.NONE
    is_fastest = joined == sorted(joined)
    if not is_fastest or threads % WARP_SIZE:
        return ThreadJoin.SHARED
    if width <= WARP_SIZE and width & (width - 1) == 0:
        return ThreadJoin.SHUFFLE
    return ThreadJoin.WARPS if width % WARP_SIZE == 0 else ThreadJoin.SHARED
