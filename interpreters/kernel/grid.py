# SPDX-License-Identifier: Apache-2.0
"""
Synchronisation between blocks: cluster barriers, counters, and atomic updates.

Blocks of a cluster run together. Blocks arrive at a counter in a random order.
"""

import numpy as np
from xdsl.ir import Operation

from tilewright.dialects.kernel import (
    ArriveOp,
    AtomicOp,
    ClusterArriveOp,
    ClusterBarrierOp,
    ClusterWaitOp,
    RemoteOp,
)
from tilewright.interpreters.access import Place, active_points, offsets
from tilewright.interpreters.buffer import Buffer
from tilewright.interpreters.errors import fail
from tilewright.interpreters.kernel.threads import Threads
from tilewright.interpreters.machine import Handlers
from tilewright.interpreters.race import Accessors
from tilewright.interpreters.types import Array


def _cluster_barrier(machine: Threads, op: ClusterBarrierOp) -> None:
    rows = _leave(machine, op, "barrier of the cluster")
    _meet(machine, op, rows, "barrier")


def _cluster_arrive(machine: Threads, op: ClusterArriveOp) -> None:
    _leave(machine, op, "arrival at the barrier of the cluster")


def _cluster_wait(machine: Threads, op: ClusterWaitOp) -> None:
    rows = machine.arriving(op, "wait for the cluster")
    early = rows & (machine.meetings.left[machine.block_id[:, 0]] < 0)
    if early.any():
        block = machine.block_id[early][0, 0]
        raise fail(op, f"block {block} waits at a barrier of its cluster where it has not arrived")
    _meet(machine, op, rows, "wait")


def _leave(machine: Threads, op: Operation, what: str) -> Array:
    """
    Record the arrival of the blocks that reach `op`, which the message calls `what`; return a mask
    of them.
    """
    rows = machine.arriving(op, what)
    again = rows & (machine.meetings.left[machine.block_id[:, 0]] >= 0)
    if again.any():
        block = machine.block_id[again][0, 0]
        raise fail(op, f"block {block} arrives again at the barrier of its cluster before it waits")
    machine.time += 1
    machine.meetings.leave(machine.block_id[rows, 0], machine.time)
    return rows


def _meet(machine: Threads, op: Operation, rows: Array, what: str) -> None:
    """
    Record that the blocks in `rows` pass the barrier of their clusters at which they have arrived.
    The message calls `op` a `what`.
    """
    some = rows.reshape(-1, machine.meetings.cluster).any(axis=1)
    every = rows.reshape(-1, machine.meetings.cluster).all(axis=1)
    if (some & ~every).any():
        first = machine.block_id[:: machine.meetings.cluster][some & ~every][0, 0]
        raise fail(op, f"only some blocks of the cluster from block {first} on reach this {what}")
    blocks = machine.block_id[rows, 0]
    arrival = machine.meetings.left[machine.block_id]
    machine.since = np.where(rows[:, None], np.maximum(machine.since, arrival), machine.since)
    machine.meetings.meet(blocks)


def _remote(machine: Threads, op: RemoteOp) -> None:
    source: Buffer = machine.values[op.source]
    cluster, rank = machine.meetings.cluster, machine.array(op.rank)
    (active,) = active_points(machine.active, rank)
    if ((active < 0) | (active >= cluster)).any():
        raise fail(op, f"rank {active.max()} is not in a cluster of {cluster} blocks")
    rank = np.clip(rank, 0, cluster - 1)
    first = np.arange(machine.shape[0])[:, None] // cluster * cluster
    remote = Buffer(source.shape, source.data, slot=(first + rank) * source.size)
    remote.written, remote.expected = source.written, source.expected
    remote.accesses = source.accesses
    running = machine.active_threads()
    visiting = slice(None) if running is None else running.any(axis=1)
    machine.meetings.visit(machine.block_id[visiting, 0], machine.time)
    machine.define(op, remote)


def check_remote_reads(machine: Threads) -> None:
    """
    Raise `InterpreterError` if a block may end while another block may still read its shared
    memory.
    """
    visiting = machine.meetings.visiting(machine.block_id[:, 0])
    if not visiting.any():
        return
    remotes = [op for value in machine.values if isinstance(op := value.owner, RemoteOp)]
    block = machine.block_id[visiting][0, 0]
    raise fail(
        remotes[-1],
        f"block {block} may read this after another block of its cluster has ended",
        remedy="put a kernel.cluster_barrier after the last read",
    )


def _arrive(machine: Threads, op: ArriveOp) -> None:
    """
    Arrive at a counter, and return for each block whether it is the last to arrive.

    The threads of a block wait for each other; blocks arrive in a random order.
    """
    rows = machine.arriving(op, "'kernel.arrive'")
    buffer: Buffer = machine.values[op.counter]
    offset = offsets(machine, op, Place(op.counter, op.map.data, op.indices), machine.active)
    counters = machine.by_block(op, offset, rows, "the counter")
    machine.pass_barrier(rows)
    is_last, of = np.zeros(len(rows), bool), op.blocks.value.data
    order = np.random.default_rng(0).permutation(np.flatnonzero(rows))
    for row in order.tolist():
        counter = counters[row]
        before = int(buffer.data[counter])
        if not 0 <= before < of:
            raise fail(op, f"counter {buffer.element(counter)} is {before}, not below {of}")
        is_last[row] = before == of - 1
        buffer.data[counter] = 0 if is_last[row] else before + 1
        block = int(machine.block_id[row, 0])
        machine.meetings.arrive(block, int(counter), machine.time, bool(is_last[row]))
    machine.define(op, is_last[:, None])


def _atomic(machine: Threads, op: AtomicOp) -> None:
    buffer: Buffer = machine.values[op.memref]
    mask = machine.mask_of(op)
    if mask is not None and not mask.any():
        return
    place = Place(op.memref, op.map.data, op.indices)
    if not buffer.writable:
        raise fail(op, f"updates {place.name}, which is an input")
    offset = offsets(machine, op, place, mask)
    every_point = np.zeros(machine.shape, bool)
    points = active_points(mask, every_point, offset, machine.array(op.value), *machine.accessors())
    _, elements, values, *ids = points
    _check_update(op, buffer, elements, Accessors(*ids))
    machine.numbers.joins[op.monoid.data].at(buffer.data, elements, values)


def _check_update(op: AtomicOp, buffer: Buffer, elements: Array, accessors: Accessors) -> None:
    assert buffer.written is not None
    unwritten = ~buffer.written[elements]
    if unwritten.any():
        where = buffer.element(elements[unwritten][0])
        raise fail(op, f"updates element {where}, which nothing has written")
    if buffer.accesses is None:
        return
    races = buffer.accesses.races_with_update(elements, accessors)
    if races.any():
        where = buffer.element(elements[races][0])
        raise fail(op, f"updates element {where} while a thread loads or stores it")


GRID: Handlers = {
    ClusterBarrierOp: _cluster_barrier,
    ClusterArriveOp: _cluster_arrive,
    ClusterWaitOp: _cluster_wait,
    RemoteOp: _remote,
    ArriveOp: _arrive,
    AtomicOp: _atomic,
}
