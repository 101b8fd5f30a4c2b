# SPDX-License-Identifier: Apache-2.0
"""
Interpreter of Kernel IR: all threads of many blocks in lockstep, as axes (block, thread).

Lockstep is one of the orders that the hardware may choose. A program that another order would make
wrong is an error here: a race without a barrier, or a barrier or shuffle that some threads do not
reach.
"""

from collections.abc import Mapping

import numpy as np
from xdsl.dialects import memref
from xdsl.ir import SSAValue

from tilewright.dialects.kernel import (
    BlockIdOp,
    CommentOp,
    FuncOp,
    IndexOp,
    ShuffleMode,
    ShuffleOp,
    ThreadIdOp,
)
from tilewright.interpreters.buffer import Buffer
from tilewright.interpreters.errors import fail
from tilewright.interpreters.kernel.barrier import BARRIERS, has_partial_barriers
from tilewright.interpreters.kernel.control import CONTROL
from tilewright.interpreters.kernel.copy import COPIES
from tilewright.interpreters.kernel.grid import GRID, check_remote_reads
from tilewright.interpreters.kernel.matrix import MATRICES
from tilewright.interpreters.kernel.registers import REGISTERS
from tilewright.interpreters.kernel.ring import RINGS, check_finished
from tilewright.interpreters.kernel.shared_memory import SHARED_MEMORY, memory
from tilewright.interpreters.kernel.threads import Threads
from tilewright.interpreters.kernel.tma import TMA
from tilewright.interpreters.kernel.warpgroup import WARPGROUPS, check_multiplied
from tilewright.interpreters.loop import LOOP
from tilewright.interpreters.machine import Handlers
from tilewright.interpreters.meetings import Meetings
from tilewright.interpreters.race import Accesses
from tilewright.interpreters.types import ElementTypes

_LANES = 1 << 17
"""Approximate number of threads that run at a time."""


def run_threads(op: FuncOp, buffers: Mapping[SSAValue, Buffer], types: ElementTypes) -> None:
    """Run a whole launch; `buffers` are the memory of the function's arguments."""
    grid, threads, cluster = op.grid.value.data, op.block.value.data, op.blocks_in_cluster
    meetings = Meetings(grid, cluster, in_groups=has_partial_barriers(op))
    for output in op.outputs:
        accesses = buffers[output].accesses = Accesses(buffers[output].size, meetings)
        for read in op.inputs:
            if np.may_share_memory(buffers[read].data, buffers[output].data):
                buffers[read].accesses = accesses
    step = max(1, _LANES // (threads * cluster)) * cluster
    for first in range(0, grid, step):
        blocks = range(first, min(first + step, grid))
        machine = Threads(KERNEL, blocks, threads, types, meetings)
        machine.values.update(buffers)
        machine.run(op.body.block)
        check_finished(machine)
        check_multiplied(machine)
        check_remote_reads(machine)


def _block_id(machine: Threads, op: BlockIdOp) -> None:
    machine.define(op, machine.block_id)


def _thread_id(machine: Threads, op: ThreadIdOp) -> None:
    machine.define(op, machine.thread_id)


def _index(machine: Threads, op: IndexOp) -> None:
    machine.define(op, *machine.indices(op.map.data, op.indices))


def _local(machine: Threads, op: memref.AllocaOp) -> None:
    buffer = memory(machine, op.memref, machine.lanes)
    buffer.slot = buffer.slot.reshape(machine.shape)
    machine.define(op, buffer)


def _comment(machine: Threads, op: CommentOp) -> None:
    """Do nothing: a comment has no effect."""


def _shuffle(machine: Threads, op: ShuffleOp) -> None:
    machine.arriving_warps(op, "shuffle")
    lanes, offset, width = machine.thread_id, op.offset.value.data, op.width.value.data
    source = lanes ^ offset
    if op.mode.data is ShuffleMode.IDX:
        source = lanes // width * width + offset
    if source.max() >= lanes.size:
        raise fail(op, f"reads from thread {source.max()}, but a block has {lanes.size}")
    value = machine.array(op.value)
    value = np.broadcast_to(value, (*value.shape[:-1], lanes.size))
    machine.define(op, value[..., source])


KERNEL: Handlers = {
    **LOOP,
    **CONTROL,
    **REGISTERS,
    **COPIES,
    **MATRICES,
    **WARPGROUPS,
    **TMA,
    **RINGS,
    **GRID,
    **BARRIERS,
    **SHARED_MEMORY,
    BlockIdOp: _block_id,
    ThreadIdOp: _thread_id,
    IndexOp: _index,
    memref.AllocaOp: _local,
    CommentOp: _comment,
    ShuffleOp: _shuffle,
}
