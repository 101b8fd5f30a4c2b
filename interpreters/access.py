# SPDX-License-Identifier: Apache-2.0
"""
Memory accesses on the vector machine, with checks for all errors.

The errors are accesses out of bounds, reads of unwritten memory, two loop steps that store
different values to one element, and races between threads.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineMap

from tilewright.dialects.loop import LoadOp, StoreOp
from tilewright.interpreters.buffer import Buffer
from tilewright.interpreters.errors import fail
from tilewright.interpreters.machine import Handlers, Machine
from tilewright.interpreters.neighbours import overwrite_neighbours
from tilewright.interpreters.race import Accessors
from tilewright.interpreters.types import Array, is_same


class Place(NamedTuple):
    """
    Elements that an op accesses: `width` elements along `axis`, the first at the given subscripts.
    The axis None stands for elements that are adjacent in row-major order, across axes.
    """

    memref: SSAValue
    map: AffineMap
    indices: Sequence[SSAValue]
    axis: int | None = 0
    width: int = 1

    @property
    def name(self) -> str:
        """Name of the memref in messages."""
        return f"%{self.memref.name_hint or 'memref'}"


def offsets(machine: Machine, op: Operation, place: Place, mask: Array | None) -> Array:
    """
    Return the offsets of the elements of `place` in its buffer. Raises `InterpreterError` if one of
    them is out of bounds.

    Elements that the mask switches off get some offset within bounds. If `width` is not 1, the
    result has a first dimension of that size, for the elements of one access.
    """
    buffer: Buffer = machine.values[place.memref]
    subscripts = machine.indices(place.map, place.indices)
    for axis, (index, size) in enumerate(zip(subscripts, buffer.shape, strict=True)):
        width = place.width if axis == place.axis else 1
        if _within(index, size - width + 1):
            continue
        bad = (index < 0) | (index > size - width)
        bad = bad if mask is None else bad & mask
        if bad.any():
            raise _out_of_bounds(op, place, axis, np.broadcast_to(index, bad.shape)[bad][0], size)
        subscripts[axis] = np.clip(index, 0, max(size - width, 0))
    first = buffer.offset(subscripts)
    if place.width == 1:
        return first
    if place.axis is None:
        _check_end(op, place, buffer, first, mask)
    inner = () if place.axis is None else buffer.shape[place.axis + 1 :]
    steps = np.arange(place.width) * int(np.prod(inner))
    return np.minimum(first + steps.reshape(-1, *[1] * machine.rank), buffer.data.size - 1)


def _within(index: Array, size: int) -> bool:
    return index.size == 0 or (int(index.min()) >= 0 and int(index.max()) < size)


def _check_end(
    op: Operation, place: Place, buffer: Buffer, first: Array, mask: Array | None
) -> None:
    """Raise `InterpreterError` if elements from `first` on are beyond the end of the buffer."""
    start = first - buffer.slot
    bad = start + place.width > buffer.size
    bad = bad if mask is None else bad & mask
    if not bad.any():
        return
    low = int(np.broadcast_to(start, bad.shape)[bad][0])
    raise fail(
        op,
        f"elements {low} to {low + place.width - 1} of {place.name}, counted in row-major order, "
        f"are beyond its end at {buffer.size}",
        remedy=f"begin at element {max(buffer.size - place.width, 0)} or before it",
    )


def _out_of_bounds(op: Operation, place: Place, axis: int, value: int, size: int) -> Exception:
    which = f"subscript {axis} of {place.name} is {value}"
    if axis == place.axis and place.width > 1:
        which = f"subscript {axis} of {place.name} is {value} to {value + place.width - 1}"
    return fail(
        op,
        f"{which}, out of bounds for an axis of size {size}",
        remedy="mask the access with 'where [...]' if it may leave the axis",
    )


def _load(machine: Machine, op: LoadOp) -> None:
    buffer: Buffer = machine.values[op.memref]
    mask = machine.mask_of(op)
    if mask is not None and not mask.any():
        machine.define(op, np.zeros((), buffer.data.dtype))
        return
    offset = offsets(machine, op, Place(op.memref, op.map.data, op.indices), mask)
    machine.define(op, read(op, buffer, offset, mask, machine.accessors()))


def read(
    op: Operation, buffer: Buffer, offset: Array, mask: Array | None, accessors: Accessors | None
) -> Array:
    """
    Return the elements of `buffer` at `offset`, and zero where the mask is false.

    Raises `InterpreterError` if an element is unwritten, or if the read by the threads `accessors`
    races with a write. No race is looked for if `accessors` is None.
    """
    _check_read(op, buffer, offset, mask, accessors)
    value = buffer.data[offset]
    return value if mask is None else np.where(mask, value, buffer.data.dtype.type(0))


def _check_read(
    op: Operation, buffer: Buffer, offset: Array, mask: Array | None, accessors: Accessors | None
) -> None:
    if buffer.written is not None:
        unwritten = ~buffer.written[offset]
        unwritten = unwritten if mask is None else unwritten & mask
        if unwritten.any():
            raise _unwritten(op, buffer, np.broadcast_to(offset, unwritten.shape)[unwritten])
    if accessors is None or buffer.accesses is None:
        return
    elements, *ids = active_points(mask, offset, *accessors)
    races = buffer.accesses.read(elements, Accessors(*ids))
    if races.any():
        where, thread = buffer.element(elements[races][0]), ids[0][races][0]
        raise fail(
            op,
            f"thread {thread} reads element {where} while another thread writes it",
            remedy="put a kernel.barrier between them",
        )


def _unwritten(op: Operation, buffer: Buffer, elements: Array) -> Exception:
    where = buffer.element(elements[0])
    if buffer.neighbours and buffer.overwritten_by:
        return fail(op, f"reads element {where}, whose memory %{buffer.overwritten_by} overwrote")
    if not buffer.is_under_way(elements[:1]).any():
        return fail(op, f"reads element {where}, which nothing has written")
    return fail(
        op,
        f"reads element {where}, to which a copy is under way",
        remedy="wait for its fill with kernel.ring_wait",
    )


def _store(machine: Machine, op: StoreOp) -> None:
    place = Place(op.memref, op.map.data, op.indices)
    mask = machine.mask_of(op)
    write(machine, op, place, machine.array(op.value), mask)


def write(machine: Machine, op: Operation, place: Place, value: Array, mask: Array | None) -> None:
    """
    Store `value` where the mask is true.

    Raises `InterpreterError` in four cases: the store is out of bounds, goes to an input, gives an
    element a second value, or races.
    """
    buffer: Buffer = machine.values[place.memref]
    if not buffer.writable:
        raise fail(op, f"stores to {place.name}, which is an input")
    if mask is not None and not mask.any():
        return
    offset = offsets(machine, op, place, mask)
    accessors = machine.accessors()
    ids = () if accessors is None or buffer.accesses is None else accessors
    elements, values, *ids = active_points(mask, offset, value, *ids)
    if ids:
        overwrite_neighbours(op, buffer, elements, Accessors(*ids))
    assert buffer.written is not None
    before = buffer.data[elements]
    changes = ~is_same(before, values)
    if accessors is None and (twice := buffer.written[elements] & changes).any():
        raise _two_values(op, buffer, elements, twice, before, values)
    if (busy := buffer.is_under_way(elements)).any():
        raise _copy_under_way(op, buffer, elements[busy])
    buffer.data[elements] = values
    buffer.written[elements] = True
    after = buffer.data[elements]
    lost = ~is_same(after, values)
    if lost.any():
        raise _two_values(op, buffer, elements, lost, after, values)
    if ids:
        _check_write(op, buffer, elements, Accessors(*ids), changes)


def _copy_under_way(op: Operation, buffer: Buffer, elements: Array) -> Exception:
    return fail(
        op,
        f"stores to element {buffer.element(elements[0])}, to which a copy is under way",
        remedy="wait for its fill with kernel.ring_wait",
    )


def _two_values(
    op: Operation, buffer: Buffer, elements: Array, where: Array, kept: Array, values: Array
) -> Exception:
    element = buffer.element(elements[where][0])
    return fail(
        op,
        f"element {element} is stored twice, as {kept[where][0]} and as {values[where][0]}",
        remedy="every step must store to elements of its own",
    )


def _check_write(
    op: Operation, buffer: Buffer, elements: Array, accessors: Accessors, changes: Array
) -> None:
    assert buffer.accesses is not None
    races = buffer.accesses.write(elements, accessors, changes)
    if races.any():
        where, thread = buffer.element(elements[races][0]), accessors.thread[races][0]
        raise fail(
            op,
            f"thread {thread} writes element {where} while another thread uses it",
            remedy="put a kernel.barrier between them",
        )


def active_points(mask: Array | None, *arrays: Array) -> Sequence[Array]:
    """Return the arrays at the points where the mask is true, broadcast together and flattened."""
    if mask is None:
        return [a.reshape(-1) for a in np.broadcast_arrays(*arrays)]
    *whole, mask = np.broadcast_arrays(*arrays, mask)
    return [a[mask] for a in whole]


ACCESS: Handlers = {LoadOp: _load, StoreOp: _store}
