# SPDX-License-Identifier: Apache-2.0
"""
Barriers of blocks, warps and groups of warps.

All threads that a barrier waits for must reach it. Otherwise the others would wait forever, which
is an error.
"""

import numpy as np
from xdsl.ir import Operation

from tilewright.dialects.kernel.barrier import (
    NAMES,
    BarrierOp,
    NamedBarrierOp,
    WarpBarrierOp,
)
from tilewright.dialects.target import WARP_SIZE
from tilewright.interpreters.errors import fail
from tilewright.interpreters.kernel.threads import Threads
from tilewright.interpreters.machine import Handlers
from tilewright.interpreters.types import Array


def has_partial_barriers(op: Operation) -> bool:
    """
    True if `op` contains a barrier for some threads of a block only: a warp, or a group of warps.
    """
    return any(isinstance(inner, WarpBarrierOp | NamedBarrierOp) for inner in op.walk())


def _barrier(machine: Threads, op: BarrierOp) -> None:
    machine.pass_barrier(machine.arriving(op, "barrier"))


def _warp_barrier(machine: Threads, op: WarpBarrierOp) -> None:
    warps = machine.arriving_warps(op, "barrier")
    machine.time += 1
    assert machine.meetings.clocks is not None
    machine.meetings.clocks.meet_alone(warps, machine.time)


def _named_barrier(machine: Threads, op: NamedBarrierOp) -> None:
    warps, names = machine.arriving_warps(op, "barrier"), _names(machine, op)
    come = np.where(warps, names[:, ::WARP_SIZE], 0)
    for name in np.unique(come[warps]).tolist():
        _check_count(machine, op, name, names)
        _meet(machine, op, name, come == name)


def _names(machine: Threads, op: NamedBarrierOp) -> Array:
    """
    Return the id of the barrier at which each thread arrives, by (block, thread); 0 for threads
    that do not reach the op.

    Raises `InterpreterError` if an id is out of range, or differs between lanes of a warp.
    """
    names = np.broadcast_to(machine.array(op.id), machine.shape)
    active = machine.active_threads()
    names = names if active is None else np.where(active, names, 0)
    wrong = (names < NAMES.low) | (names > NAMES.high)
    wrong = wrong if active is None else wrong & active
    if wrong.any():
        raise fail(
            op,
            f"the id is {names[wrong][0]}, but has to be from {NAMES.low} to {NAMES.high}",
            remedy="number the groups of threads from 1",
        )
    firsts = np.repeat(names[:, ::WARP_SIZE], WARP_SIZE, axis=1)[:, : names.shape[1]]
    if (differ := np.argwhere(firsts != names)).size:
        block, thread = differ[0]
        raise fail(
            op,
            f"lanes of warp {thread // WARP_SIZE} of block {machine.block_id[block, 0]} come with "
            "different ids",
            remedy="give all lanes of a warp the same id",
        )
    return names


def _check_count(machine: Threads, op: NamedBarrierOp, name: int, names: Array) -> None:
    count, waits = (names == name).sum(axis=1), op.threads.value.data
    wrong = np.flatnonzero((count > 0) & (count != waits))
    if wrong.size:
        block = machine.block_id[wrong[0], 0]
        raise fail(
            op,
            f"{count[wrong[0]]} threads of block {block} come with id {name}, but the "
            f"barrier waits for {waits}",
            remedy="all threads of a group, and no others, come with its id",
        )


def _meet(machine: Threads, op: NamedBarrierOp, name: int, members: Array) -> None:
    clocks = machine.meetings.clocks
    assert clocks is not None
    machine.time += 1
    taken = clocks.take_name(name, members, machine.since, machine.time)
    if taken.any():
        block = machine.block_id[taken][0, 0]
        raise fail(
            op,
            f"id {name} of block {block} is in use: other warps may still wait with it",
            remedy="use another id, or put a kernel.barrier between them",
        )
    clocks.meet(members, machine.time)


BARRIERS: Handlers = {
    BarrierOp: _barrier,
    WarpBarrierOp: _warp_barrier,
    NamedBarrierOp: _named_barrier,
}
