# SPDX-License-Identifier: Apache-2.0
"""
Rings: checks of the accesses to slots, and the arrival of copies.

A fill arrives at the wait for it, and no earlier. The contents that it overwrites are lost when its
copies begin (`async_copies`). This order finds reads and copies that begin too early. A released
slot loses its contents, so stale reads are found too.

With `sync` and `cp_async` the wait is a barrier of the block. With `tma` it is not. There, only
release and acquire order the reads of other threads before the next fill. Acquiring therefore
forgets these reads.
"""

import numpy as np

from tilewright.dialects.kernel import (
    RingAcquireOp,
    RingCommitOp,
    RingOp,
    RingReleaseOp,
    RingType,
    RingWaitOp,
)
from tilewright.dialects.kernel.ring import FillOp
from tilewright.dialects.tile import Transport
from tilewright.interpreters.errors import fail
from tilewright.interpreters.kernel.async_copies import divided
from tilewright.interpreters.kernel.ring_state import Fill, Ring, coming
from tilewright.interpreters.kernel.threads import Threads
from tilewright.interpreters.machine import Handlers
from tilewright.interpreters.types import Array


def _ring(machine: Threads, op: RingOp) -> None:
    if op.ring in machine.values:
        raise fail(op, "the ring is created again", remedy="create it once, before the loop")
    machine.arriving(op, f"'{op.name}'")
    assert isinstance(op.ring.type, RingType)
    machine.define(op, Ring(op.ring.type, op.bytes.value.data, machine.shape[0]))


def _fill(machine: Threads, op: FillOp) -> Fill:
    return coming(machine, op, op.ring, op.count)


def _acquire(machine: Threads, op: RingAcquireOp) -> None:
    fill = _fill(machine, op)
    ring, count = fill.ring, fill.count
    before = count - ring.depth
    fill.check(
        before < ring.released,
        "waits forever for the slot of fill {0}: not all threads have released fill {1}",
        before,
        remedy="put kernel.ring_release after the last read of each fill, before this",
    )
    if not ring.by_engine:
        return
    fill.check(
        count == ring.acquired,
        "acquires a slot for fill {0}, but fill {1} is next",
        ring.acquired,
        remedy="count all fills of the ring, from 0",
    )
    ring.acquired += fill.blocks
    free, ring.left = divided(ring.left, lambda flight: fill.is_up_to(flight, back=ring.depth))
    for flight in free:
        flight.forget_accesses()


def _commit(machine: Threads, op: RingCommitOp) -> None:
    fill = _fill(machine, op)
    ring, count = fill.ring, fill.count
    first = ring.committed - ring.empty
    fill.check(
        (first <= count) & (count <= ring.committed),
        "commits fill {0}, but fill {1} is next",
        ring.committed,
        remedy="count all fills of the ring, from 0",
    )
    real = _COMPLETE[ring.transport](machine, fill)
    empty = np.where(real, 0, count - first + 1)
    ring.empty = np.where(fill.blocks, empty, ring.empty)
    ring.committed = np.where(fill.blocks, count + 1, ring.committed)


def _complete_stores(machine: Threads, fill: Fill) -> Array:
    """Return false for each block: a commit of plain stores is never known to have copies."""
    return np.zeros(len(fill.count), bool)


def _complete_group(machine: Threads, fill: Fill) -> Array:
    """
    Assign all copies since the threads' last commit to the fill, as one group. Return a mask of the
    blocks that have any.
    """
    ring, rows = fill.ring, np.zeros(len(fill.count), bool)
    copies, machine.uncommitted = divided(machine.uncommitted, lambda f: fill.blocks[f.rows])
    for flight in copies:
        ring.under_way.append(flight.of_fill(fill.count))
        rows[flight.rows] = True
    blocks, slots = fill.slot
    ring.group[blocks, slots] = np.where(fill.blocks, machine.groups, ring.group[blocks, slots])
    machine.groups = machine.groups + fill.blocks
    return rows


def _complete_boxes(machine: Threads, fill: Fill) -> Array:
    """
    Check that the boxes copied for an acquired fill have the number of bytes that the hardware
    waits for.

    Return a mask of the blocks that copied any boxes.
    """
    ring = fill.ring
    brought = ring.brought[fill.slot]
    fill.check(
        (brought == ring.bytes) | (fill.count >= ring.acquired),
        f"waits for {ring.bytes} bytes of fill {{0}}, but {{1}} were copied",
        brought,
        remedy="the ring's bytes are those of all boxes of a fill",
    )
    ring.brought[fill.slot] = np.where(fill.blocks, 0, brought)
    return brought > 0


_COMPLETE = {
    Transport.SYNC: _complete_stores,
    Transport.CP_ASYNC: _complete_group,
    Transport.TMA: _complete_boxes,
}


def _wait(machine: Threads, op: RingWaitOp) -> None:
    fill = _fill(machine, op)
    ring, count = fill.ring, fill.count
    _check_committed(fill)
    _CHECK_ARRIVES[ring.transport](fill, op.pending.value.data)
    belongs = fill.is_in if ring.by_engine else fill.is_up_to
    arrived, ring.under_way = divided(ring.under_way, belongs)
    _, ring.present = divided(ring.present, lambda f: fill.is_up_to(f, back=ring.depth))
    for flight in arrived:
        flight.land()
    ring.present += arrived
    ring.awaited = np.where(fill.blocks, np.maximum(ring.awaited, count + 1), ring.awaited)
    newer = np.minimum(ring.empty, ring.committed - count - 1)
    ring.empty = np.where(fill.blocks, newer, ring.empty)
    if not ring.by_engine:
        machine.pass_barrier(fill.blocks)
        return
    for flight in arrived:
        flight.forget_accesses()


def _check_committed(fill: Fill) -> None:
    ring, count = fill.ring, fill.count
    fill.check(
        (count >= 0) & (count < ring.committed),
        "waits for fill {0}, but only {1} fill(s) are committed",
        ring.committed,
        remedy="put kernel.ring_commit after the copies of each fill, before this",
    )
    fill.check(
        count >= ring.committed - ring.depth,
        "waits for fill {0}, whose slot fill {1} has taken",
        count + ring.depth,
        remedy=f"a ring of {ring.depth} is filled at most {ring.depth - 1} ahead",
    )


def _check_group(fill: Fill, pending: int) -> None:
    later = fill.machine.groups - 1 - fill.ring.group[fill.slot]
    fill.check(
        later >= pending,
        f"waits for all but {pending} groups of copies, but fill {{0}} is among them: "
        "{1} were committed after it",
        later,
        remedy="lower 'pending', or commit an empty fill where there are no more",
    )


def _check_copied(fill: Fill, pending: int) -> None:
    fill.check(
        fill.count < fill.ring.acquired,
        "waits forever for fill {0}: nothing was copied",
        remedy="acquire its slot and copy something to it",
    )
    fill.check(
        fill.ring.brought[fill.slot] == 0,
        "waits for fill {0}, which was committed before its boxes were copied",
        remedy="put kernel.ring_commit after the copies of each fill",
    )


def _check_nothing(fill: Fill, pending: int) -> None:
    """Do nothing: stores of threads are done when the barrier has been passed."""


_CHECK_ARRIVES = {
    Transport.SYNC: _check_nothing,
    Transport.CP_ASYNC: _check_group,
    Transport.TMA: _check_copied,
}


def _release(machine: Threads, op: RingReleaseOp) -> None:
    fill = _fill(machine, op)
    ring, count = fill.ring, fill.count
    fill.check(
        count < ring.awaited,
        "releases fill {0}, which it has not waited for",
        remedy="put kernel.ring_wait before the reads of each fill",
    )
    fill.check(
        count == ring.released,
        "releases fill {0}, but fill {1} is next",
        ring.released,
        remedy="release every fill once, in the order of their numbers",
    )
    ring.released += fill.blocks
    gone, ring.present = divided(ring.present, fill.is_up_to)
    for flight in gone:
        flight.lose()
    if ring.by_engine:
        ring.left += gone


def check_finished(machine: Threads) -> None:
    """
    Raise `InterpreterError` if a copy is still under way at the end of a block, after which another
    block gets its memory.
    """
    rings = [ring for ring in machine.values.values() if isinstance(ring, Ring)]
    for flight in (flight for ring in rings for flight in ring.under_way):
        raise fail(
            flight.op,
            f"fill {flight.fill[0]} is still under way when the kernel ends",
            remedy="wait for every fill, or copy none that is not used",
        )


RINGS: Handlers = {
    RingOp: _ring,
    RingAcquireOp: _acquire,
    RingCommitOp: _commit,
    RingWaitOp: _wait,
    RingReleaseOp: _release,
}
