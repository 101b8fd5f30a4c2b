# SPDX-License-Identifier: Apache-2.0
"""
Lowering of ring ops by the transport of the ring.

    sync       wait: a barrier; threads fill a slot by stores
    cp_async   commit: end of a group of copies; wait: until the group has arrived, then a barrier
    tma        two mbarriers for each slot: `full`, on which copies arrive, and `empty`, on which
               each warp arrives that has finished reading the slot

The barrier of the first two transports also shows that no thread still reads the slot that is
filled next. Acquire and release therefore emit nothing.
"""

from collections.abc import Iterator, Sequence

from xdsl.ir import Block, Operation, Region, SSAValue

from tilewright.dialects import kernel
from tilewright.dialects.cuda.copies import AddressOp
from tilewright.dialects.cuda.operators import BinaryOp, CompareOp
from tilewright.dialects.cuda.statements import ForOp, IfOp
from tilewright.dialects.cuda.threads import PerformOp, SyncthreadsOp
from tilewright.dialects.cuda.types import BinaryOperator, Comparison
from tilewright.dialects.kernel.ring import FillOp, RingType
from tilewright.dialects.target import WARP_SIZE
from tilewright.dialects.tile import Transport
from tilewright.passes.cuda.conversion import Conversion, Handlers
from tilewright.passes.cuda.shared_memory import MBARRIER, has_mbarriers
from tilewright.passes.cuda.tma import tma_copies

_FULL, _EMPTY = range(2)


def _ring(to: Conversion, op: kernel.RingOp) -> None:
    if not has_mbarriers(op.ring):
        return
    assert isinstance(op.ring.type, RingType)
    full = to.shared.declare(op.ring, MBARRIER, "full", _FULL)
    empty = to.shared.declare(op.ring, MBARRIER, "empty", _EMPTY)
    to.barriers[op.ring] = (full, empty)
    warps = -(-to.source.block.value.data // WARP_SIZE)
    each, body = Block(arg_types=[to.writer.index_type]), Block()
    each.args[0].name_hint = "slot"
    with to.writer.inside(each):
        for barrier, arrivals in ((full, 1), (empty, warps)):
            address = AddressOp(barrier, [each.args[0]]).result
            to.writer.statement(PerformOp("mbarrier_init", [address, to.writer.index(arrivals)]))
    with to.writer.inside(body):
        ends = to.writer.index(0), to.writer.index(op.ring.type.depth.data)
        to.writer.statement(ForOp(*ends, 1, Region(each)))
        to.writer.statement(PerformOp("mbarrier_init_fence"))
    to.writer.statement(IfOp(_is_elected(to), Region(body)))
    to.writer.statement(SyncthreadsOp())


def _is_elected(to: Conversion) -> SSAValue:
    """Return the condition that holds in the one thread that acts for the block."""
    return CompareOp(Comparison.EQ, to.thread(), to.writer.index(0)).result


def _acquire(to: Conversion, op: kernel.RingAcquireOp) -> None:
    """
    Lower an acquire with the copies that follow: one thread waits for the slot, announces the bytes
    to come, and begins the copies.
    """
    if not has_mbarriers(op.ring):
        return
    copies = _copies_after(op)
    to.done.update(copies)
    to.convert_all(_between(op, copies))
    body = Block()
    with to.writer.inside(body):
        _perform(to, "mbarrier_wait", _barrier(to, op, _EMPTY), _phase_before(to, op))
        _perform(to, "mbarrier_expect", _barrier(to, op, _FULL), to.writer.index(_bytes(op.ring)))
        for copy in copies:
            tma_copies(to, copy, lambda: _barrier(to, op, _FULL))
    to.writer.statement(IfOp(_is_elected(to), Region(body)))


def _copies_after(op: kernel.RingAcquireOp) -> list[kernel.TmaCopyOp]:
    """
    Return the TMA copies between the acquire `op` and the next commit that belong to the fill of
    `op`.
    """
    found: list[kernel.TmaCopyOp] = []
    after = op.next_op
    while after is not None and not isinstance(after, kernel.RingCommitOp):
        if isinstance(after, kernel.TmaCopyOp) and (after.ring, after.count) == (op.ring, op.count):
            found.append(after)
        after = after.next_op
    return found


def _between(op: Operation, copies: Sequence[Operation]) -> Iterator[Operation]:
    """
    Yield the ops after `op` and before the last of `copies`, except the copies; they may compute
    indices that the copies use.
    """
    after = op.next_op
    while copies and after is not None and after is not copies[-1]:
        if after not in copies:
            yield after
        after = after.next_op


def _tma_copy(to: Conversion, op: kernel.TmaCopyOp) -> None:
    raise to.writer.unsupported("'kernel.tma_copy' of a fill that is not acquired before it")


def _commit(to: Conversion, op: kernel.RingCommitOp) -> None:
    if _transport(op) is Transport.CP_ASYNC:
        to.writer.statement(PerformOp("copy_async_commit"))


def _wait(to: Conversion, op: kernel.RingWaitOp) -> None:
    if has_mbarriers(op.ring):
        _perform(to, "mbarrier_wait", _barrier(to, op, _FULL), _phase(to, op))
        return
    if _transport(op) is Transport.CP_ASYNC:
        to.writer.statement(PerformOp("copy_async_wait", constants=[op.pending.value.data]))
    to.writer.statement(SyncthreadsOp())


def _release(to: Conversion, op: kernel.RingReleaseOp) -> None:
    if not has_mbarriers(op.ring):
        return
    body = Block()
    with to.writer.inside(body):
        _perform(to, "mbarrier_arrive", _barrier(to, op, _EMPTY))
    to.writer.statement(PerformOp("__syncwarp"))
    lane = BinaryOp(BinaryOperator.REM, to.thread(), to.writer.index(WARP_SIZE)).result
    is_first = CompareOp(Comparison.EQ, lane, to.writer.index(0)).result
    to.writer.statement(IfOp(is_first, Region(body)))


def _perform(to: Conversion, name: str, *arguments: SSAValue) -> None:
    to.writer.statement(PerformOp(name, arguments))


def _barrier(to: Conversion, op: FillOp, which: int) -> SSAValue:
    """Return the address of an mbarrier of the slot, such as `&full[slot]`."""
    slot, _ = to.accesses.places[op][0].terms
    return AddressOp(to.barriers[op.ring][which], [to.indices.value(slot, "slot")]).result


def _phase(to: Conversion, op: FillOp) -> SSAValue:
    """Return the parity of the mbarrier phase that completes when the fill has arrived."""
    _, phase = to.accesses.places[op][0].terms
    return to.indices.value(phase, "phase")


def _phase_before(to: Conversion, op: FillOp) -> SSAValue:
    """
    Return the parity of the mbarrier phase before the phase of this fill. On a new mbarrier,
    waiting for this parity returns at once.
    """
    _, phase = to.accesses.places[op][0].terms
    if not phase.operands:
        return to.writer.index(1 - phase.constant)
    return BinaryOp(BinaryOperator.BIT_XOR, _phase(to, op), to.writer.index(1)).result


def _transport(op: FillOp) -> Transport:
    assert isinstance(op.ring.type, RingType)
    return op.ring.type.transport.data


def _bytes(ring: SSAValue) -> int:
    assert isinstance(ring.owner, kernel.RingOp)
    return ring.owner.bytes.value.data


RINGS: Handlers = {
    kernel.RingOp: _ring,
    kernel.RingAcquireOp: _acquire,
    kernel.RingCommitOp: _commit,
    kernel.RingWaitOp: _wait,
    kernel.RingReleaseOp: _release,
    kernel.TmaCopyOp: _tma_copy,
}
