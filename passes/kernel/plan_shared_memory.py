# SPDX-License-Identifier: Apache-2.0
"""
Gives arrays in shared memory the same place where they are not needed at the same time.

    %slab = kernel.shared : memref<1024xf32, 3 : i64>
    ... %slab ...
    %partial = kernel.shared : memref<512xf32, 3 : i64>
    ... %partial ...

becomes

    %slab = kernel.shared at 0 : memref<1024xf32, 3 : i64>
    ... %slab ...
    %partial = kernel.shared at 0 : memref<512xf32, 3 : i64>
    kernel.barrier
    ... %partial ...

An array is needed from the first op of the function's own block that uses it, be it within a loop
or a branch, to the last. All threads come to those ops in order, so that a barrier between two of
them is enough: no thread writes the later array while another still uses the earlier one.

Copies that go on behind the threads' backs are over by then, because every fill is waited for by an
op of its ring, and these count as uses. Two kinds of memory need more than that barrier. What other
blocks read is in use until the cluster has met. And what the tensor memory accelerator fills comes
first or is alone: what threads did before is not ordered with what it does by a barrier.
"""

from collections.abc import Iterator, Mapping, Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from tilewright.dialects import kernel
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.kernel.ring import FillOp, RingType
from tilewright.dialects.kernel.shared import WORTH_A_BARRIER, share_bytes
from tilewright.dialects.tile import Transport
from tilewright.passes.kernel.phases import is_barrier
from tilewright.passes.kernel.slots import Lifetime, assign_offsets
from tilewright.passes.reporting.trace import Rule, rewriting, skipped

RULE = Rule("k", 10, "plan_shared_memory")


def lifetimes_of(function: kernel.FuncOp) -> dict[kernel.SharedOp, Lifetime]:
    """When each array is needed, in ops of the function's own block; unused ones are left out."""
    steps = list(function.body.block.ops)
    position = {op: number for number, op in enumerate(steps)}
    meetings = [n for n, op in enumerate(steps) if isinstance(op, kernel.ClusterBarrierOp)]
    ops = ops_in(function)
    copies = [op for op in ops if _is_of_copies(op)]
    found: dict[kernel.SharedOp, Lifetime] = {}
    for array in (op for op in ops if isinstance(op, kernel.SharedOp)):
        used = [position[_outermost(op, function)] for op in _uses(array, copies)]
        if not used:
            continue
        first, last = min(used), max(used)
        if any(isinstance(use.operation, kernel.RemoteOp) for use in array.memref.uses):
            last = next((meeting for meeting in meetings if meeting > last), len(steps))
        if _is_box(array):
            first = 0
        found[array] = Lifetime(first, last)
    return found


def _uses(array: kernel.SharedOp, copies: Sequence[Operation]) -> Iterator[Operation]:
    """What accesses the array, and what says when copies to it are over, such as `copies`."""
    for use in array.memref.uses:
        op = use.operation
        yield op
        if isinstance(op, kernel.RemoteOp):
            yield from (other.operation for other in op.memref.uses)
        if isinstance(op, kernel.TmaCopyOp):
            yield from (other.operation for other in op.ring.uses)
        if isinstance(op, kernel.CopyAsyncOp):  # it belongs to the next commit, on whatever ring
            yield from copies


def _is_of_copies(op: Operation) -> bool:
    if not isinstance(op, FillOp):
        return False
    assert isinstance(op.ring.type, RingType)
    return op.ring.type.transport.data is Transport.CP_ASYNC


def _is_box(array: kernel.SharedOp) -> bool:
    return any(isinstance(use.operation, kernel.TmaCopyOp) for use in array.memref.uses)


def _outermost(op: Operation, function: kernel.FuncOp) -> Operation:
    """Return the op of the function's own block that `op` is part of."""
    while op.parent is not function.body.block:
        parent = op.parent_op()
        assert parent is not None
        op = parent
    return op


def _place(function: kernel.FuncOp, alive: Mapping[kernel.SharedOp, Lifetime]) -> str | None:
    """Set the offsets of arrays; return the reason not to if that saves too little, else None."""
    sizes = {array: array.num_bytes for array in alive}
    alignments = {array: array.alignment for array in alive}
    apart = dict.fromkeys(alive, Lifetime(0, 0))
    shared = assign_offsets(alive, sizes, alignments)
    ends = [
        max((offset + sizes[array] for array, offset in offsets.items()), default=0)
        for offsets in (shared, assign_offsets(apart, sizes, alignments))
    ]
    if ends[1] - ends[0] < WORTH_A_BARRIER:
        return f"arrays of {ends[1]} bytes would share {ends[1] - ends[0]}"
    for array, offset in shared.items():
        array.offset = IntegerAttr(offset, i64)
    return None


def _separate(function: kernel.FuncOp, alive: Mapping[kernel.SharedOp, Lifetime]) -> None:
    """A barrier ahead of each array that lies where one did that threads may still use."""
    steps = list(function.body.block.ops)
    barriers = {number for number, op in enumerate(steps) if is_barrier(op)}
    added: set[int] = set()
    """Steps ahead of which there is one."""
    for later, (first, _) in alive.items():
        earlier = [a for a, life in alive.items() if life.last < first and _meet(a, later)]
        last = max((alive[array].last for array in earlier), default=first)
        is_apart = not barriers.isdisjoint(range(last, first))
        if last == first or is_apart or not added.isdisjoint(range(last + 1, first + 1)):
            continue
        barrier = kernel.BarrierOp()
        barrier.location = steps[first].location
        function.body.block.insert_op_before(barrier, steps[first])
        added.add(first)


def _meet(one: kernel.SharedOp, other: kernel.SharedOp) -> bool:
    return share_bytes(one.memref, other.memref)


class PlanSharedMemoryPass(ModulePass):
    """Let arrays in shared memory lie in the same place."""

    name = "plan-shared-memory"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Each kernel of the module, anew if it was planned before."""
        for function in [f for f in op.ops if isinstance(f, kernel.FuncOp)]:
            alive = lifetimes_of(function)
            if len(alive) < 2:
                continue
            with rewriting(RULE, function):
                for array in alive:
                    array.offset = None
                if (reason := _place(function, alive)) is not None:
                    skipped(RULE, function, reason)
                    continue
                _separate(function, alive)
