# SPDX-License-Identifier: Apache-2.0
"""
The way in which threads and blocks carry out combines.

Threads of a block join values along some of their axes by shuffles if they are adjacent lanes of a
warp, else through shared memory. Blocks have their own kinds of join (`tile.Join`). Combines of
which none needs the result of another are joined at once. The combines in

    %a = tile.combine %x across %s with add : f32
    %m = arith.mulf %a, %a : f32
    %y = loop.load ...
    %b = tile.combine %y across %s with max : f32

are joined at once after `move_together` has made them adjacent:

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
    """The combines, in program order."""
    ahead: Sequence[Operation]
    """Ops between the combines on which one of them depends."""
    rest: Sequence[Operation]
    """
    Ops after the first combine that are not in the group, and on which no combine of the group
    depends.
    """

    def move_together(self) -> None:
        """Move the later combines, and the ops that they need, up to the first one."""
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
    """
    Divide the combines of one block, given in program order, into groups. The combines of a group
    are joined at once, because none needs the result of another.
    """
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
    """
    Return the ops of `within` that compute operands of `ops`, directly or through other ops of the
    same block.
    """
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
    """Return `owner` if it is an op in the block of `sibling`, else None."""
    return owner if isinstance(owner, Operation) and owner.parent is sibling.parent else None


def following(op: Operation) -> list[Operation]:
    """Return the ops after `op` in its block, in order."""
    found: list[Operation] = []
    while (later := op.next_op) is not None:
        found.append(later)
        op = later
    return found


class ThreadJoin(Enum):
    """Way in which threads join their values."""

    NONE = auto()
    """No exchange: each thread has the result already."""
    SHUFFLE = auto()
    """Shuffles within segments of a warp."""
    WARPS = auto()
    """Shuffles within warps, then one slot of shared memory for each warp."""
    SHARED = auto()
    """
    Shuffles among adjacent lanes (`adjacent_lanes`), then one slot of shared memory for each group
    of them.
    """


def join_across(axes: Sequence[Axis], across: Sequence[SSAValue]) -> ThreadJoin:
    """
    Return the way in which threads join values across the axes `across`. The threads of the block
    lie along `axes`, the last one fastest.
    """
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


def adjacent_lanes(axes: Sequence[Axis], across: Sequence[SSAValue]) -> int:
    """
    Return the number of adjacent lanes of a warp that join values across the axes `across`. The
    threads of the block lie along `axes`, the last one fastest.
    """
    lanes = 1
    if prod(axis.extent for axis in axes) % WARP_SIZE:
        return lanes
    for axis in reversed(axes):
        if axis.value not in across or WARP_SIZE % (lanes * axis.extent):
            break
        lanes *= axis.extent
    return lanes
