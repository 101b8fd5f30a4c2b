# SPDX-License-Identifier: Apache-2.0
"""
Phases of a kernel: the ops between barriers, which threads of a block may run at the same time.

All threads reach the same barriers in the same order. Between two barriers, each thread runs some
path through the ops of the kernel. A barrier therefore orders the ops on paths that end at it
before the ops on paths that begin at it. No path contains another barrier. Paths may run any number
of steps of every loop, including none. The analysis thereby considers more paths than can occur, so
that no conflict is missed.

A barrier of warps, or of groups of threads, orders at most as much as a barrier of the block in its
place. A barrier of warps or groups ends the paths only of barriers of the same threads or of fewer
threads.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import product
from typing import NamedTuple

from xdsl.dialects import scf
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.traits import RecursiveMemoryEffect

from tilewright.dialects import kernel, loop
from tilewright.dialects.argument_facts import inputs_in_place
from tilewright.dialects.axes import range_of_value
from tilewright.dialects.kernel.barrier import MeetingOp, NamedBarrierOp
from tilewright.dialects.kernel.copy import CopyingOp
from tilewright.dialects.kernel.registers import LOCAL
from tilewright.dialects.kernel.ring import FillOp, RingType
from tilewright.dialects.kernel.shared import share_bytes
from tilewright.dialects.tile import Transport
from tilewright.dialects.types import memref_type
from tilewright.passes.facts.effects import is_pure

_BARRIERS = (kernel.BarrierOp, kernel.ClusterBarrierOp, kernel.ArriveOp)
"""
Ops at which all threads of a block wait for each other. Arrival counters are accessed by no other
ops, so that `phases` can ignore them.
"""

_TOUCHES_NO_MEMORY = (
    *_BARRIERS,
    kernel.ClusterArriveOp,
    kernel.ClusterWaitOp,
    MeetingOp,
    kernel.ShuffleOp,
    kernel.SharedOp,
    kernel.RegistersOp,
    kernel.MatrixMultiplyOp,
    kernel.GroupFenceOp,
    kernel.GroupCommitOp,
    kernel.ProxyFenceOp,
    kernel.RingOp,
    kernel.CommentOp,
    FillOp,
)


class Access(NamedTuple):
    """Access of an op to memory that other threads can access too."""

    memory: SSAValue | None
    """Accessed memory; None stands for any memory."""
    is_write: bool

    def conflicts(self, other: "Access") -> bool:
        """True if both accesses may touch the same memory and one of them writes."""
        return (self.is_write or other.is_write) and self._overlaps(other)

    def _overlaps(self, other: "Access") -> bool:
        if self.memory is None or other.memory is None or self.memory is other.memory:
            return True
        return share_bytes(self.memory, other.memory)


def is_barrier(op: Operation) -> bool:
    """True if every thread of the block waits at `op` for all other threads."""
    if not isinstance(op, kernel.RingWaitOp):
        return _is_always_barrier(type(op))
    assert isinstance(op.ring.type, RingType)
    return op.ring.type.transport.data is not Transport.TMA


def _may_wait(op: Operation) -> bool:
    """True if a thread may wait for other threads at `op`."""
    return isinstance(op, MeetingOp) or is_barrier(op)


@cache
def _is_always_barrier(kind: type[Operation]) -> bool:
    return issubclass(kind, _BARRIERS)


@cache
def _touches_no_memory(kind: type[Operation]) -> bool:
    """
    True if ops of class `kind` access no memory; ops inside of their regions are visited by
    themselves.
    """
    return issubclass(kind, _TOUCHES_NO_MEMORY) or kind.has_trait(RecursiveMemoryEffect)


class Phases:
    """
    Paths through a kernel, as the ops before and after each op. Ops within a body that neither
    access memory nor wait for threads are left out.
    """

    def __init__(self, function: kernel.FuncOp):
        self._touched: dict[Operation, list[Access]] = {}
        """Accesses of each op on a path."""
        self._before: dict[Operation, set[Operation]] = {}
        self._after: dict[Operation, set[Operation]] = {}
        self._shares_arguments = any(map(inputs_in_place, function.facts))
        self._function = function
        self._follow(function.body.block, set())

    def accesses_before(self, barrier: Operation) -> set[Access]:
        """Return the accesses that threads may have made since the previous barrier."""
        return self._accesses(_reached(barrier, self._before))

    def accesses_after(self, barrier: Operation) -> set[Access]:
        """Return the accesses that threads may make before they reach the next barrier."""
        return self._accesses(_reached(barrier, self._after))

    def ordered_by(
        self, barrier: Operation
    ) -> Iterator[tuple[SSAValue | None, Operation, Operation]]:
        """
        Yield each pair of conflicting accesses that `barrier` orders, as the memory, the op before
        and the op after it. The memory is None if both ops access it under different names.
        """
        before, after = (
            [(op, access) for op in _reached(barrier, steps) for access in self._touched[op]]
            for steps in (self._before, self._after)
        )
        for (op, first), (other, second) in product(before, after):
            if self._named(first).conflicts(self._named(second)):
                is_one = first.memory is second.memory
                yield first.memory if is_one else None, op, other

    def may_reuse_ids(self, barrier: Operation) -> bool:
        """
        True if an id of named barriers may be for other threads after `barrier` than before it.
        """
        before, after = _reached(barrier, self._before), _reached(barrier, self._after)
        named = [op for op in before if isinstance(op, NamedBarrierOp)]
        return any(
            not _has_same_threads(op, other)
            for op in named
            for other in after
            if isinstance(other, NamedBarrierOp)
        )

    def _follow(self, block: Block, entries: set[Operation]) -> set[Operation]:
        """
        Record the paths through `block` and return the ops after which they leave it; `entries` are
        the ops after which they enter it.
        """
        for op in block.ops:
            accesses = [*_accesses(op)]
            if not (accesses or op.regions or op is block.first_op or _may_wait(op)):
                continue
            self._touched[op] = accesses
            self._join(entries, op)
            entries = {op}
            bodies = [inner for region in op.regions for inner in region.blocks]
            for inner in bodies:
                entries |= self._follow(inner, entries)
            for first in (inner.first_op for inner in bodies):  # of the next step of a loop
                if first is not None:
                    self._join(entries, first)
        return entries

    def _join(self, entries: set[Operation], op: Operation) -> None:
        self._before.setdefault(op, set()).update(entries)
        for entry in entries:
            self._after.setdefault(entry, set()).add(op)

    def _accesses(self, ops: Iterable[Operation]) -> set[Access]:
        return {self._named(access) for op in ops for access in self._touched[op]}

    def _named(self, access: Access) -> Access:
        return Access(self._memory(access.memory), access.is_write)

    def _memory(self, memref: SSAValue | None) -> SSAValue | None:
        """
        Return the value that stands for `memref` in comparisons. One value stands for all arguments
        if some of them may be passed the same buffer. An array of another block counts as the
        block's own.
        """
        if memref is not None and isinstance(memref.owner, kernel.RemoteOp):
            return memref.owner.source
        if self._shares_arguments and isinstance(memref, BlockArgument):
            return self._function.body.block.args[0]
        return memref


def _reached(start: Operation, steps: Mapping[Operation, set[Operation]]) -> set[Operation]:
    """
    Return the ops reachable from `start` along `steps`, a map from ops to their neighbours. Paths
    end at other barriers that order at least as much as `start`.
    """
    found: set[Operation] = set()
    ahead = [start]
    while ahead:
        for op in steps.get(ahead.pop(), ()):
            if op in found or (op is not start and _orders_as_much(op, start)):
                continue
            found.add(op)
            ahead.append(op)
    return found


def _orders_as_much(op: Operation, barrier: Operation) -> bool:
    """True if threads at `op` wait for at least the threads for which they wait at `barrier`."""
    if isinstance(barrier, kernel.WarpBarrierOp) and isinstance(op, MeetingOp):
        return True
    if isinstance(barrier, NamedBarrierOp) and isinstance(op, NamedBarrierOp):
        return _has_same_threads(barrier, op)
    return is_barrier(op)


def _has_same_threads(op: NamedBarrierOp, other: NamedBarrierOp) -> bool:
    """True if both barriers are for the same groups of threads: each thread has one id for both."""
    is_one = op.id is other.id and op.threads == other.threads
    return is_one and _is_reached_by_all(op) and _is_reached_by_all(other)


def _is_reached_by_all(op: NamedBarrierOp) -> bool:
    """
    True if every thread of the block reaches the barrier `op`, each time with the same barrier id.
    """
    function = kernel.function_of(op)
    around = op.parent_op()
    while around is not None and _has_fixed_trip_count(around):
        around = around.parent_op()
    return around is function and op.id.owner.parent is function.body.block


def _has_fixed_trip_count(op: Operation) -> bool:
    """True if `op` is a loop with the same trip count in every thread."""
    if isinstance(op, kernel.UnrollOp):
        return True
    if not isinstance(op, scf.ForOp):
        return False
    bounds = [range_of_value(bound) for bound in (op.lb, op.ub, op.step)]
    return all(bound is not None and bound.low == bound.high for bound in bounds)


def _accesses(op: Operation) -> Iterator[Access]:
    if _touches_no_memory(type(op)):
        return
    match op:
        case loop.LoadOp():
            sides = [Access(op.memref, False)]
        case loop.StoreOp():
            sides = [Access(op.memref, True)]
        case CopyingOp() | kernel.TmaCopyOp() | kernel.LoadMatrixOp():
            sides = [Access(op.source, False), Access(op.target, True)]
        case kernel.GroupMultiplyOp():
            sides = [Access(op.a, False), Access(op.b, False)]
        case kernel.GroupWaitOp():  # multiplications may read their slabs until then
            yield Access(None, False)
            return
        case _ if is_pure(op):
            return
        case _:
            yield Access(None, True)
            return
    for side in sides:
        assert side.memory is not None
        if memref_type(side.memory).memory_space != LOCAL:
            yield side
