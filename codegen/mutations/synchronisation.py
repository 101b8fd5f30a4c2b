# SPDX-License-Identifier: Apache-2.0
"""Bugs in the order of threads and copies: barriers, rings and shuffles."""

from collections.abc import Iterator
from functools import partial
from itertools import chain

from xdsl.dialects import scf
from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.codegen.mutations.mutation import Mutation, Rules, dropped, insert_before, is_local
from tilewright.dialects import kernel, loop
from tilewright.dialects.axes import range_of_value
from tilewright.dialects.kernel.barrier import MeetingOp
from tilewright.dialects.kernel.copy import CopyingOp
from tilewright.dialects.kernel.ring import FillOp
from tilewright.dialects.target import WARP_SIZE
from tilewright.dialects.tile import Transport
from tilewright.dialects.types import memref_type

_FILLS = kernel.RingAcquireOp, kernel.RingCommitOp, kernel.TmaCopyOp, kernel.CopyAsyncOp
_CLUSTER = kernel.ClusterBarrierOp, kernel.ClusterArriveOp, kernel.ClusterWaitOp
_SYNCHRONISE = MeetingOp, FillOp, kernel.ShuffleOp, *_CLUSTER, kernel.ArriveOp


def moved_down(op: Operation) -> Iterator[Mutation]:
    """
    Yield the mutation that moves the op behind the next operation with an effect, if there is one,
    unless it is the last in the block.
    """
    if (after := _next_effect(op.next_op)) is not None and after.next_op is not None:
        yield Mutation("moved behind what follows", _move_down)


def _move_down(op: Operation) -> None:
    after = _next_effect(op.next_op)
    assert after is not None
    op.detach()
    Rewriter.insert_op(op, InsertPoint.after(after))


def moved_up(op: Operation) -> Iterator[Mutation]:
    """
    Yield the mutation that moves the op before the previous operation with an effect, if its
    operands are defined there.
    """
    before = _last_effect(op.prev_op)
    if before is not None and all(_is_defined_before(value, before) for value in op.operands):
        yield Mutation("moved before what precedes", _move_up)


def _move_up(op: Operation) -> None:
    before = _last_effect(op.prev_op)
    assert before is not None
    op.detach()
    Rewriter.insert_op(op, InsertPoint.before(before))


def _next_effect(op: Operation | None) -> Operation | None:
    while op is not None and not _has_effect(op):
        op = op.next_op
    return op


def _last_effect(op: Operation | None) -> Operation | None:
    while op is not None and not _has_effect(op):
        op = op.prev_op
    return op


def _has_effect(op: Operation) -> bool:
    """True if other threads, or copies, may notice what `op` does or when it does it."""
    return any(isinstance(inner, _SYNCHRONISE) or _is_shared(inner) for inner in op.walk())


def _is_shared(op: Operation) -> bool:
    """True if `op` accesses shared or global memory, not only registers."""
    if isinstance(op, CopyingOp | kernel.TmaCopyOp | kernel.LoadMatrixOp | kernel.AtomicOp):
        return True
    if isinstance(op, kernel.GroupMultiplyOp | kernel.GroupWaitOp):
        return True
    return isinstance(op, loop.LoadOp | loop.StoreOp) and not is_local(op.memref)


def _is_defined_before(value: SSAValue, place: Operation) -> bool:
    """True if `value` is defined before `place`, in its block or around it."""
    owner = value.owner
    if not isinstance(owner, Operation) or owner.parent is not place.parent:
        return True
    return owner is not place and owner.is_before_in_block(place)


def _only_warp_barrier(op: kernel.NamedBarrierOp) -> Iterator[Mutation]:
    yield Mutation("only for each warp", _replace_by_warp_barrier)


def _replace_by_warp_barrier(op: Operation) -> None:
    insert_before(op, kernel.WarpBarrierOp())
    op.detach()


def _wrong_threads(op: kernel.NamedBarrierOp) -> Iterator[Mutation]:
    yield Mutation("for a warp more", partial(_add_threads, more=WARP_SIZE))
    if op.threads.value.data > WARP_SIZE:
        yield Mutation("for a warp less", partial(_add_threads, more=-WARP_SIZE))


def _add_threads(op: Operation, *, more: int) -> None:
    assert isinstance(op, kernel.NamedBarrierOp)
    op.properties["threads"] = IntegerAttr(op.threads.value.data + more, i64)


def _wrong_id(op: kernel.NamedBarrierOp) -> Iterator[Mutation]:
    """
    Yield wrong ids for a barrier of several groups of threads.

    The rule plants no id by which the groups would still be separate, as any such id is right.
    """
    thread = AffineExpr.dimension(0)
    yield Mutation("one id for all", partial(_set_id, number=AffineExpr.constant(1)))
    yield Mutation("an id for each warp", partial(_set_id, number=thread // WARP_SIZE + 1))
    shifted = (thread + WARP_SIZE) // op.threads.value.data + 1
    yield Mutation("the id of the next warp", partial(_set_id, number=shifted))


def _set_id(op: Operation, *, number: AffineExpr) -> None:
    thread = kernel.ThreadIdOp()
    insert_before(op, thread)
    id = kernel.IndexOp(([number], [thread.result]))
    insert_before(op, id)
    op.operands[0] = id.result


def _waited_later(op: kernel.RingWaitOp) -> Iterator[Mutation]:
    """
    Yield the mutation that moves the wait further down, except where that would be right.

    It would be if only fills of slots follow that no thread reads any more.
    """
    after = _next_effect(op.next_op)
    inner = [] if after is None else [each for each in after.walk() if _has_effect(each)]
    fills = bool(inner) and all(isinstance(each, _FILLS) or each.regions for each in inner)
    if not fills or (_transport(op) is not Transport.TMA and _fills_again(op)):
        yield from moved_down(op)


def _released(op: kernel.RingReleaseOp) -> Iterator[Mutation]:
    """
    Yield mutations of a release, but only if its slot is filled again: otherwise no thread waits
    for the release.
    """
    if _fills_again(op):
        yield from chain(dropped(op), moved_up(op), _wrong_count(op))


def _fills_again(op: FillOp) -> bool:
    """
    True unless the enclosing loop is known to have at most as many steps as the ring has slots.
    """
    assert isinstance(op.ring.type, kernel.RingType)
    around = op.parent_op()
    if not isinstance(around, scf.ForOp):
        return True
    first, last = range_of_value(around.lb), range_of_value(around.ub)
    if first is None or last is None:
        return True
    return last.high - first.low > op.ring.type.depth.data


def _waits_for_less(op: kernel.RingWaitOp) -> Iterator[Mutation]:
    """
    Yield a wait that leaves one more fill pending. Only rings of `cp.async` have this mutation,
    because only their waits count pending fills.
    """
    assert isinstance(op.ring.type, kernel.RingType)
    is_counted = _transport(op) is Transport.CP_ASYNC
    if is_counted and op.pending.value.data + 1 < op.ring.type.depth.data:
        yield Mutation("lets one more fill be pending", _add_pending)


def _add_pending(op: Operation) -> None:
    assert isinstance(op, kernel.RingWaitOp)
    op.properties["pending"] = IntegerAttr(op.pending.value.data + 1, i64)


def _acquired(op: kernel.RingAcquireOp) -> Iterator[Mutation]:
    """
    Yield mutations of an acquire, but only for rings that TMA fills.

    A slot that threads fill is free after their wait, so its acquire has no effect.
    """
    if _transport(op) is Transport.TMA:
        yield from dropped(op)
        yield from _wrong_count(op)


def _transport(op: FillOp) -> Transport:
    assert isinstance(op.ring.type, kernel.RingType)
    return op.ring.type.transport.data


def _wrong_count(op: FillOp) -> Iterator[Mutation]:
    yield Mutation("for the fill after", partial(add_to_operand, number=1, more=1))


def _wrong_slot_of_box(op: kernel.TmaCopyOp) -> Iterator[Mutation]:
    number, depth = [*op.operands].index(op.slot), memref_type(op.target).get_shape()[0]
    change = partial(add_to_operand, number=number, more=1, modulo=depth)
    yield Mutation("to the slot after", change)


def add_to_operand(op: Operation, *, number: int, more: int, modulo: int = 0) -> None:
    """
    Add `more` to operand `number` of `op`, an index; then reduce it modulo `modulo` if that is not
    0.
    """
    expr = AffineExpr.dimension(0) + more
    index = kernel.IndexOp(([expr % modulo if modulo else expr], [op.operands[number]]))
    insert_before(op, index)
    op.operands[number] = index.result


def _wrong_bytes(op: kernel.RingOp) -> Iterator[Mutation]:
    """
    Yield wrong byte counts of a ring, but only if TMA fills it: the bytes of other rings are not
    counted.
    """
    assert isinstance(op.ring.type, kernel.RingType)
    if op.ring.type.transport.data is not Transport.TMA:
        return
    yield Mutation("expects 16 bytes more", partial(_set_bytes, more=16))
    yield Mutation("expects 16 bytes less", partial(_set_bytes, more=-16))


def _set_bytes(op: Operation, *, more: int) -> None:
    assert isinstance(op, kernel.RingOp)
    op.properties["bytes"] = IntegerAttr(op.bytes.value.data + more, i64)


def _shuffled(op: kernel.ShuffleOp) -> Iterator[Mutation]:
    yield Mutation("skipped", _skip)
    yield Mutation("from another lane", _other_lane)


def _skip(op: Operation) -> None:
    op.results[0].replace_all_uses_with(op.operands[0])
    op.detach()


def _other_lane(op: Operation) -> None:
    assert isinstance(op, kernel.ShuffleOp)
    offset, width = op.offset.value.data, op.width.value.data
    op.properties["offset"] = IntegerAttr(offset // 2 if offset > 1 else width // 2, i64)


SYNCHRONISATION: Rules = {
    kernel.BarrierOp: (dropped, moved_down, moved_up),
    kernel.WarpBarrierOp: (dropped, moved_down, moved_up),
    kernel.NamedBarrierOp: (
        dropped,
        moved_down,
        moved_up,
        _only_warp_barrier,
        _wrong_threads,
        _wrong_id,
    ),
    kernel.RingWaitOp: (dropped, _waited_later, moved_up, _waits_for_less, _wrong_count),
    kernel.RingCommitOp: (dropped, moved_up, _wrong_count),
    kernel.RingAcquireOp: (_acquired,),
    kernel.RingReleaseOp: (_released,),
    kernel.RingOp: (_wrong_bytes,),
    kernel.TmaCopyOp: (dropped, _wrong_slot_of_box),
}
SHUFFLES: Rules = {kernel.ShuffleOp: (_shuffled,)}
"""Rules for bugs that change which values lanes get, but not what orders lanes."""
