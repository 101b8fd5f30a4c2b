# SPDX-License-Identifier: Apache-2.0
"""
Copies of boxes by the tensor memory accelerator.

The engine is not a thread. Its writes are ordered against the threads' reads only by the ring, and
by barriers between the reads and its start.
"""

import numpy as np

from tilewright.dialects.kernel import TmaCopyOp
from tilewright.dialects.kernel.boxes import BOX_ALIGNMENT
from tilewright.dialects.tile import layout_of
from tilewright.dialects.types import memref_type, size_of
from tilewright.interpreters.access import read
from tilewright.interpreters.buffer import Buffer
from tilewright.interpreters.errors import fail
from tilewright.interpreters.kernel.async_copies import Flight, begin
from tilewright.interpreters.kernel.copy import base_alignment
from tilewright.interpreters.kernel.ring_state import Fill, coming
from tilewright.interpreters.kernel.threads import Threads
from tilewright.interpreters.machine import Handlers
from tilewright.interpreters.race import Accessors
from tilewright.interpreters.types import Array

_SHARED_BYTES = 128
"""Alignment in bytes of a box in shared memory (PTX ISA, tensors)."""


def _tma_copy(machine: Threads, op: TmaCopyOp) -> None:
    _check_addresses(op)
    fill = coming(machine, op, op.ring, op.count)
    rows = np.flatnonzero(fill.blocks)
    fill.check_copy(_slots(machine, op, fill), _bytes(op))
    values, origins = _box(machine, op, fill)
    elements = _elements(machine, op, fill)
    block = np.repeat(rows, elements.shape[1])
    elements, values, origins = (np.reshape(a, -1) for a in (elements, values, origins))
    source, buffer = machine.read([op.source, op.target])
    flight = Flight(op, source, buffer, elements, values, origins, block, block)
    begin(
        flight,
        Accessors(*(each.reshape(-1) for each in np.broadcast_arrays(*machine.engine(block)))),
    )
    fill.ring.under_way.append(flight.of_fill(fill.count))


def _check_addresses(op: TmaCopyOp) -> None:
    source, target = memref_type(op.source), memref_type(op.target)
    name, size = f"%{op.source.name_hint or 'memref'}", size_of(source.element_type)
    if (base := base_alignment(op.source)) < BOX_ALIGNMENT:
        raise fail(
            op,
            f"{name} is aligned to {base} bytes, but a tensor map needs {BOX_ALIGNMENT}",
            remedy=f"declare its alignment: {{plan.align = {BOX_ALIGNMENT} : i64}}",
        )
    if source.get_num_dims() > 1 and (row := source.get_shape()[-1] * size) % BOX_ALIGNMENT:
        raise fail(
            op,
            f"rows of {name} are {row} bytes apart, not a multiple of {BOX_ALIGNMENT}",
            remedy="fill the slot by cp.async or by stores",
        )
    slot = layout_of(target).size(target) // target.get_shape()[0] * size
    if target.get_shape()[0] > 1 and slot % _SHARED_BYTES:
        raise fail(
            op,
            f"slots are {slot} bytes apart, not a multiple of {_SHARED_BYTES}",
            remedy="give the slab the layout '#tile.layout<slots>'",
        )


def _slots(machine: Threads, op: TmaCopyOp, fill: Fill) -> Array:
    return machine.by_block(op, op.slot, fill.blocks, "the slot")


def _bytes(op: TmaCopyOp) -> int:
    """Return the number of bytes of a box, including elements outside of the tensor."""
    return int(np.prod([*op.box.get_values()])) * size_of(memref_type(op.source).element_type)


def _box(machine: Threads, op: TmaCopyOp, fill: Fill) -> tuple[Array, Array]:
    """
    Return the values of a box and their source offsets, of shape (blocks that reach the op,
    elements).

    Outside of the tensor, values are zero and offsets are -1.
    """
    source: Buffer = machine.values[op.source]
    rank, rows = len(source.shape), np.flatnonzero(fill.blocks)
    starts = [
        machine.by_block(op, index, fill.blocks, f"subscript {axis}")[rows]
        for axis, index in enumerate(machine.indices(op.map.data, op.indices))
    ]
    inside, offset = np.ones((), bool), np.zeros((), int)
    for axis, (start, extent) in enumerate(zip(starts, op.box.get_values(), strict=True)):
        steps = np.arange(extent).reshape(-1, *[1] * (rank - axis - 1))
        index = start.reshape(-1, *[1] * rank) + steps
        size = source.shape[axis]
        inside = inside & (index >= 0) & (index < size)
        offset = offset * size + np.clip(index, 0, size - 1)
    offset, inside = (np.reshape(a, (len(rows), -1)) for a in (offset, inside))
    values = read(op, source, offset, inside, machine.engine(rows))
    return values, np.where(inside, offset, -1)


def _elements(machine: Threads, op: TmaCopyOp, fill: Fill) -> Array:
    """
    Return the target elements of a box as offsets, of shape (blocks that reach the op, elements).
    """
    target: Buffer = machine.values[op.target]
    size = target.size // target.shape[0]
    rows = np.flatnonzero(fill.blocks)
    slots = _slots(machine, op, fill)
    fill.check(
        slots < target.shape[0],
        "copies fill {0} to slot {1}, but there are {2}",
        slots,
        np.full_like(slots, target.shape[0]),
        remedy="the memory of a ring has all of its slots",
    )
    return target.slot[rows] + slots[rows, None] * size + np.arange(size)


TMA: Handlers = {TmaCopyOp: _tma_copy}
