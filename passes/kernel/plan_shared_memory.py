# SPDX-License-Identifier: Apache-2.0
"""
Places arrays in shared memory, at the same offset if they are not alive at the same time.

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

An array is alive from the first to the last op that uses it. Only ops of the function's own block
count; a use within a loop or a branch counts as a use by the loop or branch. All threads run these
ops in order. One barrier between two of them therefore suffices: no thread writes the later array
while another still uses the earlier one.

Asynchronous copies are complete by then: an op of the ring waits for every fill, and these ops
count as uses. Two kinds of arrays need more than a barrier. An array that other blocks read is
alive until the next barrier of the cluster. An array that the tensor memory accelerator (TMA) fills
is alive from the start of the kernel. A barrier does not order its writes after earlier accesses by
threads.
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
from tilewright.passes.kernel.slots import Lifetime, assign_offsets
from tilewright.passes.reporting.trace import Rule, rewriting, skipped

RULE = Rule("k", 10, "plan_shared_memory")


def lifetimes_of(function: kernel.FuncOp) -> dict[kernel.SharedOp, Lifetime]:
    """
    Return when each array is alive, in positions of ops of the function's own block; unused arrays
    are left out.
    """
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
    """
    Yield the ops that access the array, and the ring ops that wait for copies to it. `copies` are
    all ring ops of `cp.async`, each of which may wait for any of these copies.
    """
    for use in array.memref.uses:
        op = use.operation
        yield op
        if isinstance(op, kernel.RemoteOp):
            yield from (other.operation for other in op.memref.uses)
        if isinstance(op, kernel.TmaCopyOp):
            yield from (other.operation for other in op.ring.uses)
        if isinstance(op, kernel.CopyAsyncOp):  # the copy belongs to the next commit, on any ring
            yield from copies


def _is_of_copies(op: Operation) -> bool:
    if not isinstance(op, FillOp):
        return False
    assert isinstance(op.ring.type, RingType)
    return op.ring.type.transport.data is Transport.CP_ASYNC


def _is_box(array: kernel.SharedOp) -> bool:
    return any(isinstance(use.operation, kernel.TmaCopyOp) for use in array.memref.uses)


def _outermost(op: Operation, function: kernel.FuncOp) -> Operation:
    """Return the op of the function's own block that contains `op`."""
    while op.parent is not function.body.block:
        parent = op.parent_op()
        assert parent is not None
        op = parent
    return op


def _place(function: kernel.FuncOp, alive: Mapping[kernel.SharedOp, Lifetime]) -> str | None:
    """
    Set the offsets of arrays and return None. If sharing memory saves too few bytes, set none and
    return the reason.
    """
    sizes = {array: array.num_bytes for array in alive}
    alignments = {array: array.alignment for array in alive}
    apart = dict.fromkeys(alive, Lifetime(0, 0))
    shared = assign_offsets(alive, sizes, alignments)
    ends = [
        max((offset + sizes[array] for array, offset in offsets.items()), default=0)
        for offsets in (shared, assign_offsets(apart, sizes, alignments))
    ]
    if ends[1] - ends[0] < WORTH_A_BARRIER:
        return f"sharing would save only {ends[1] - ends[0]} of {ends[1]} bytes"
    for array, offset in shared.items():
        array.offset = IntegerAttr(offset, i64)
    return None


def _separate(function: kernel.FuncOp, alive: Mapping[kernel.SharedOp, Lifetime]) -> None:
    """
    Insert a barrier ahead of the first use of an array if threads may still use an earlier array in
    the same place.
    """
    from tilewright.passes.kernel.phases import is_barrier

    steps = list(function.body.block.ops)
    barriers = {number for number, op in enumerate(steps) if is_barrier(op)}
    added: set[int] = set()
    """Positions of ops with a new barrier ahead of them."""
    for later, (first, _) in alive.items():
        earlier = [a for a, life in alive.items() if life.last < first and _overlap(a, later)]
        last = max((alive[array].last for array in earlier), default=first)
        is_apart = not barriers.isdisjoint(range(last, first))
        if last == first or is_apart or not added.isdisjoint(range(last + 1, first + 1)):
            continue
        barrier = kernel.BarrierOp()
        barrier.location = steps[first].location
        function.body.block.insert_op_before(barrier, steps[first])
        added.add(first)


def _overlap(one: kernel.SharedOp, other: kernel.SharedOp) -> bool:
    return share_bytes(one.memref, other.memref)


class PlanSharedMemoryPass(ModulePass):
    """Place arrays in shared memory at the same offset if they are not alive at the same time."""

    name = "plan-shared-memory"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Plan the shared memory of each kernel of the module, replacing any earlier plan."""
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
