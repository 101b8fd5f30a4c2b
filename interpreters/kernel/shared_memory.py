# SPDX-License-Identifier: Apache-2.0
"""
Arrays in the shared memory of blocks.

If the places of two arrays overlap, a write to any element of one ends all contents of the other.
Threads must have met at a barrier before that write.
"""

import numpy as np
from xdsl.ir import SSAValue

from tilewright.dialects.buffer_plan import overlap
from tilewright.dialects.kernel import SharedOp
from tilewright.dialects.types import memref_type
from tilewright.interpreters.buffer import Buffer
from tilewright.interpreters.errors import fail
from tilewright.interpreters.kernel.threads import Threads
from tilewright.interpreters.machine import Handlers
from tilewright.interpreters.race import Accesses


def _shared(machine: Threads, op: SharedOp) -> None:
    """
    Allocate an array in shared memory.

    In a loop, each step gets the same memory. Its contents are lost, but the record of accesses to
    it is kept.
    """
    buffer = memory(machine, op.memref, machine.shape[0])
    buffer.slot = buffer.slot[:, None]
    before: Buffer | None = machine.values.get(op.memref)
    if before is not None and before.expected is not None and before.expected.any():
        raise fail(op, "is allocated again while a copy to it is under way")
    buffer.accesses = (
        Accesses(buffer.data.size, machine.meetings) if before is None else before.accesses
    )
    buffer.place, buffer.name = op.place, op.memref.name_hint or "shared"
    if op.place is not None:
        _join_neighbours(machine, buffer, before)
    machine.define(op, buffer)


def _join_neighbours(machine: Threads, buffer: Buffer, before: Buffer | None) -> None:
    """Register arrays whose places overlap as neighbours of each other."""
    arrays = [value for value in machine.values.values() if isinstance(value, Buffer)]
    for other in arrays:
        if other is before or not _overlap(other.place, buffer.place):
            continue
        other.neighbours = [*(n for n in other.neighbours if n is not before), buffer]
        buffer.neighbours.append(other)


def _overlap(one: range | None, other: range | None) -> bool:
    return one is not None and other is not None and overlap(one, other)


def memory(machine: Threads, value: SSAValue, copies: int) -> Buffer:
    """Return the memory that an op allocates, with `copies` separate copies."""
    type = memref_type(value)
    dtype = machine.types[type.element_type]
    buffer = Buffer.poisoned(type.get_shape(), dtype, copies=copies)
    buffer.slot = np.arange(copies) * buffer.size
    return buffer


SHARED_MEMORY: Handlers = {SharedOp: _shared}
