# SPDX-License-Identifier: Apache-2.0
"""
The launch plan as a graph: the kernel of a launch, the readers and writers of a buffer, and the
place where one launch can replace two.
"""

from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import takewhile
from math import prod

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue, Use
from xdsl.pattern_rewriter import PatternRewriter

from tilewright.dialects import loop
from tilewright.dialects.axes import AxesOp
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.passes.loop.plan_index import PlanIndex


def launches_by_kernel(module: ModuleOp) -> dict[str, list[loop.LaunchOp]]:
    """Return all launches of the module, by the name of their kernel, in program order."""
    launches: dict[str, list[loop.LaunchOp]] = {}
    for op in ops_in(module):
        if isinstance(op, loop.LaunchOp):
            launches.setdefault(op.kernel.string_value(), []).append(op)
    return launches


def readers(buffer: SSAValue) -> list[loop.LaunchOp]:
    """Return the launches that read `buffer` in the block that allocates it, in program order."""
    block = buffer.owner if isinstance(buffer.owner, Block) else buffer.owner.parent
    assert block is not None
    launches = [op for op in _users([buffer]) if isinstance(op, loop.LaunchOp)]
    found = {op for op in launches if op.parent is block and buffer in op.inputs}
    return [*found] if len(found) < 2 else _in_order(found, block)


def _in_order(launches: Set[loop.LaunchOp], block: Block) -> list[loop.LaunchOp]:
    """Return `launches`, all of which are in `block`, in program order."""
    ordered: list[loop.LaunchOp] = []
    op = block.first_op
    while op is not None and len(ordered) < len(launches):
        if isinstance(op, loop.LaunchOp) and op in launches:
            ordered.append(op)
        op = op.next_op
    return ordered


def writer(buffer: SSAValue) -> loop.LaunchOp | None:
    """Return the launch that writes `buffer`, any one if there are several, or None."""
    for use in buffer.uses:
        if isinstance(op := use.operation, loop.LaunchOp) and buffer in op.outputs:
            return op
    return None


def is_temporary(buffer: SSAValue) -> bool:
    """True if `buffer` only passes a value from one launch to others."""
    return holds_one_value(buffer) and not is_returned(buffer)


def holds_one_value(buffer: SSAValue) -> bool:
    """
    True if `buffer` is allocated, is written by one op, and has all its users in the block of its
    allocation.
    """
    if not isinstance(alloc := buffer.owner, memref.AllocOp) or _times_written(buffer) != 1:
        return False
    users = [use.operation for use in buffer.uses]
    known = all(isinstance(op, loop.LaunchOp | func.ReturnOp) for op in users)
    return known and all(op.parent is alloc.parent for op in users)


def is_returned(buffer: SSAValue) -> bool:
    """True if `buffer` is a result of its host function."""
    return any(isinstance(use.operation, func.ReturnOp) for use in buffer.uses)


def reason_against_fusion(
    launch: loop.LaunchOp, consumers: Sequence[loop.LaunchOp], plan: PlanIndex
) -> str | None:
    """Reason why `launch` cannot become part of `consumers`, or None."""
    for op in (launch, *consumers):
        if (kernel := plan.kernel_of(op)) is None:
            return f"{op.kernel.string_value()} is not a loop.kernel"
        if (launches := plan.times_launched(kernel)) > 1:
            return f"{kernel.sym_name.data} is launched {launches} times"
    for buffer in launch.inputs:
        if _times_written(buffer) > isinstance(buffer.owner, memref.AllocOp):
            if _may_be_written(buffer, _from_to(launch, consumers)):
                return f"%{buffer.name_hint or 'memref'}, which it reads, may change in between"
    return None


def _from_to(launch: loop.LaunchOp, consumers: Sequence[loop.LaunchOp]) -> set[Operation]:
    """
    Return the ops from `launch` to the last of `consumers`, both included; all consumers follow
    `launch`.
    """
    remaining, ops = set[Operation](consumers), set[Operation]([launch])
    for op in following(launch):
        if not remaining:
            break
        ops.add(op)
        remaining.discard(op)
    return ops


def _times_written(buffer: SSAValue) -> int:
    """Return the number of ops that write `buffer`, or may write it."""
    return sum(map(_may_write, buffer.uses))


def _may_write(use: Use) -> bool:
    """
    True if the op of `use` may change the memory that it uses: it is neither a launch that only
    reads the buffer nor a return.
    """
    op = use.operation
    if isinstance(op, loop.LaunchOp):
        return op.is_output(use.index)
    return not isinstance(op, func.ReturnOp)


def merge_point(op: loop.LaunchOp, other: loop.LaunchOp) -> loop.LaunchOp | None:
    """
    Return the launch at whose place one launch can do the work of both, `op` or the later `other`;
    None if neither works. Buffers that `op` writes for `other` do not prevent it.
    """
    between = {*ops_between(op, other)}
    if between.isdisjoint(_users(op.outputs)):
        return other
    if not between.isdisjoint(_users(other.outputs)):
        return None
    ready = all(
        value in op.outputs or (_is_known_before(value, op) and not _may_be_written(value, between))
        for value in other.inputs
    )
    return op if ready else None


def following(op: Operation) -> Iterator[Operation]:
    """Yield the ops of the block after `op`, in order."""
    while (successor := op.next_op) is not None:
        yield successor
        op = successor


def ops_between(op: Operation, other: Operation) -> Iterator[Operation]:
    """Yield the ops after `op` and before `other`, in order."""
    return takewhile(lambda between: between is not other, following(op))


def _users(buffers: Iterable[SSAValue]) -> set[Operation]:
    return {use.operation for buffer in buffers for use in buffer.uses}


def _may_be_written(value: SSAValue, ops: Set[Operation]) -> bool:
    return any(use.operation in ops and _may_write(use) for use in value.uses)


def _is_known_before(value: SSAValue, op: Operation) -> bool:
    return isinstance(value.owner, Block) or value.owner.is_before_in_block(op)


def inputs_of(kernel: loop.KernelOp, launch: loop.LaunchOp) -> dict[SSAValue, SSAValue]:
    """Return the buffer that `launch` passes for each input of `kernel`."""
    return dict(zip(kernel.inputs, launch.inputs, strict=True))


def loads_of(kernel: loop.KernelOp, launch: loop.LaunchOp, buffer: SSAValue) -> list[loop.LoadOp]:
    """Return the loads in `kernel` that read `buffer` in this launch, in order."""
    arguments = [a for a, value in inputs_of(kernel, launch).items() if value is buffer]
    users = _users(arguments)
    if len(users) > 1:  # a single user needs no walk to be put in order
        users = [op for op in ops_in(kernel) if op in users]
    return [op for op in users if isinstance(op, loop.LoadOp)]


def evaluations(op: Operation) -> int:
    """Return the number of times `op` runs in one launch of its kernel."""
    extents: list[int] = []
    scope = op.parent_op()
    while scope is not None:
        if isinstance(scope, AxesOp):
            extents.extend(scope.axis_extents())
        scope = scope.parent_op()
    return prod(extents)


def erase_kernel(rewriter: PatternRewriter, kernel: loop.KernelOp, buffer: SSAValue) -> None:
    """Erase a kernel without launches, and `buffer` if nothing uses it."""
    rewriter.erase(kernel)
    if not buffer.uses and isinstance(buffer.owner, Operation):
        rewriter.erase(buffer.owner)
