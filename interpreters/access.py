# SPDX-License-Identifier: Apache-2.0
"""
`loop.load` and `loop.store` on the vector machine, and every way in which they can be wrong: out
of bounds, unwritten memory, two steps that store different values, races between threads.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tilewright.dialects.loop import LoadOp, StoreOp
from tilewright.interpreters.buffer import Buffer
from tilewright.interpreters.errors import fail
from tilewright.interpreters.machine import Handlers, Machine
from tilewright.interpreters.race import Who
from tilewright.interpreters.types import Array


def _subscripts(machine: Machine, op: LoadOp | StoreOp, mask: Array | None) -> list[Array]:
    """The subscripts, all within bounds; those that the mask switches off are moved there."""
    buffer: Buffer = machine.values[op.memref]
    subscripts = machine.indices(op.map.data, op.indices)
    for axis, (index, size) in enumerate(zip(subscripts, buffer.shape, strict=True)):
        if _within(index, size):
            continue
        bad = (index < 0) | (index >= size)
        bad = bad if mask is None else bad & mask
        if bad.any():
            value = np.broadcast_to(index, bad.shape)[bad][0]
            name = op.memref.name_hint or "memref"
            raise fail(
                op,
                f"subscript {axis} of %{name} is {value}, out of bounds for an axis of size {size}",
                remedy="mask the access with 'where [...]' if it may leave the axis",
            )
        subscripts[axis] = np.clip(index, 0, size - 1)
    return subscripts


def _within(index: Array, size: int) -> bool:
    return index.size == 0 or (int(index.min()) >= 0 and int(index.max()) < size)


def _load(machine: Machine, op: LoadOp) -> None:
    buffer: Buffer = machine.values[op.memref]
    mask = machine.mask_of(op)
    if mask is not None and not mask.any():
        machine.define(op, np.zeros((), buffer.data.dtype))
        return
    offset = buffer.offset(_subscripts(machine, op, mask))
    _check_read(machine, op, buffer, offset, mask)
    value = buffer.data[offset]
    zero = buffer.data.dtype.type(0)
    machine.define(op, value if mask is None else np.where(mask, value, zero))


def _check_read(
    machine: Machine, op: LoadOp, buffer: Buffer, offset: Array, mask: Array | None
) -> None:
    if buffer.written is not None:
        unwritten = ~buffer.written[offset]
        unwritten = unwritten if mask is None else unwritten & mask
        if unwritten.any():
            where = _element(buffer, np.broadcast_to(offset, unwritten.shape)[unwritten][0])
            raise fail(op, f"reads element {where}, which nothing has written")
    who = machine.who()
    if who is None or buffer.accesses is None:
        return
    elements, *ids = _active_points(mask, offset, *who)
    races = buffer.accesses.read(elements, Who(*ids))
    if races.any():
        where, thread = _element(buffer, elements[races][0]), ids[0][races][0]
        raise fail(
            op,
            f"thread {thread} reads element {where} while another thread writes it",
            remedy="put a kernel.barrier between them",
        )


def _store(machine: Machine, op: StoreOp) -> None:
    buffer: Buffer = machine.values[op.memref]
    if not buffer.writable:
        raise fail(op, f"stores to %{op.memref.name_hint or 'memref'}, which is an input")
    mask = machine.mask_of(op)
    if mask is not None and not mask.any():
        return
    offset = buffer.offset(_subscripts(machine, op, mask))
    ids = machine.who() or ()
    elements, values, *ids = _active_points(mask, offset, machine.array(op.value), *ids)
    assert buffer.written is not None
    before = buffer.data[elements]
    changes = buffer.written[elements] & ~_same(before, values)
    if not ids and changes.any():
        raise _two_values(op, buffer, elements, changes, before, values)
    buffer.data[elements] = values
    buffer.written[elements] = True
    after = buffer.data[elements]
    lost = ~_same(after, values)
    if lost.any():
        raise _two_values(op, buffer, elements, lost, after, values)
    if ids and buffer.accesses is not None:
        _check_write(op, buffer, elements, Who(*ids), ~_same(before, values))


def _two_values(
    op: StoreOp, buffer: Buffer, elements: Array, where: Array, kept: Array, values: Array
) -> Exception:
    element = _element(buffer, elements[where][0])
    return fail(
        op,
        f"element {element} is stored twice, as {kept[where][0]} and as {values[where][0]}",
        remedy="every step must store to elements of its own",
    )


def _check_write(op: StoreOp, buffer: Buffer, elements: Array, who: Who, changes: Array) -> None:
    assert buffer.accesses is not None
    races = buffer.accesses.write(elements, who, changes)
    if races.any():
        where, thread = _element(buffer, elements[races][0]), who.thread[races][0]
        raise fail(
            op,
            f"thread {thread} writes element {where} while another thread uses it",
            remedy="put a kernel.barrier between them",
        )


def _active_points(mask: Array | None, *arrays: Array) -> Sequence[Array]:
    """The arrays at the points where the mask holds, broadcast together and flat."""
    if mask is None:
        return [a.reshape(-1) for a in np.broadcast_arrays(*arrays)]
    *whole, mask = np.broadcast_arrays(*arrays, mask)
    return [a[mask] for a in whole]


def _same(a: Array, b: Array) -> Array:
    return (a == b) | ((a != a) & (b != b))


def _element(buffer: Buffer, offset: Any) -> list[int]:
    """The subscripts of the element at `offset`."""
    return [int(i) for i in np.unravel_index(int(offset) % buffer.size, buffer.shape)]


ACCESS: Handlers = {LoadOp: _load, StoreOp: _store}
