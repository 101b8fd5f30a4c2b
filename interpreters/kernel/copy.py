# SPDX-License-Identifier: Apache-2.0
"""
Vector copies, by a thread or by `cp.async`.

All elements of a vector must be within bounds. Its address must be a multiple of its size on both
sides, padding included. A swizzle moves larger units than a vector, so it changes nothing here.
"""

from math import gcd

import numpy as np
from xdsl.dialects.builtin import AffineMapAttr
from xdsl.ir import BlockArgument, SSAValue
from xdsl.ir.affine import AffineMap

from tilewright.dialects.kernel import CopyAsyncOp, CopyOp
from tilewright.dialects.kernel.copy import CopyingOp
from tilewright.dialects.kernel.registers import LOCAL
from tilewright.dialects.kernel_like import KernelLikeOp
from tilewright.dialects.tile import SHARED, layout_of
from tilewright.dialects.types import memref_type, size_of
from tilewright.interpreters.access import Place, active_points, offsets, read, write
from tilewright.interpreters.buffer import Buffer
from tilewright.interpreters.errors import fail
from tilewright.interpreters.kernel.async_copies import Flight, begin
from tilewright.interpreters.kernel.threads import Threads
from tilewright.interpreters.machine import Handlers
from tilewright.interpreters.race import Accessors
from tilewright.interpreters.types import Array


def _source(op: CopyingOp) -> Place:
    return _vector(op, op.source, op.source_map, (*op.source_indices,))


def _target(op: CopyingOp) -> Place:
    return _vector(op, op.target, op.target_map, (*op.target_indices,))


def _vector(
    op: CopyingOp, memref: SSAValue, map: AffineMapAttr, indices: tuple[SSAValue, ...]
) -> Place:
    type = memref_type(memref)
    axis = layout_of(type).innermost(type)
    return Place(memref, map.data, indices, axis, op.width.value.data)


def _copy(machine: Threads, op: CopyOp) -> None:
    target, mask = _target(op), machine.mask_of(op)
    values, _ = _values(machine, op)
    if memref_type(op.target).memory_space in (SHARED, LOCAL):
        mask = machine.active
    _check_alignment(machine, op, target, mask)
    write(machine, op, target, values, mask)


def _copy_async(machine: Threads, op: CopyAsyncOp) -> None:
    (values, origin), target = _values(machine, op), _target(op)
    offset = offsets(machine, op, target, machine.active)
    _check_alignment(machine, op, target, machine.active)
    rows = machine.block_id - machine.block_id[0]
    elements, data, origins, row, *accessors = active_points(
        machine.active, offset, values, origin, rows, *machine.accessors()
    )
    source, buffer = machine.read([op.source, op.target])
    flight = Flight(op, source, buffer, elements, data, origins, row, np.zeros_like(row))
    begin(flight, Accessors(*accessors))
    machine.uncommitted.append(flight)


def _values(machine: Threads, op: CopyingOp) -> tuple[Array, Array]:
    """Return the copied values and their source offsets; zeros and -1 where the mask is false."""
    source, mask = _source(op), machine.mask_of(op)
    buffer: Buffer = machine.values[op.source]
    if mask is not None and not mask.any():
        return np.zeros((), buffer.data.dtype), np.asarray(-1)
    offset = offsets(machine, op, source, mask)
    _check_alignment(machine, op, source, mask)
    values = read(op, buffer, offset, mask, machine.accessors())
    return values, offset if mask is None else np.where(mask, offset, -1)


def _check_alignment(machine: Threads, op: CopyingOp, place: Place, mask: Array | None) -> None:
    type, needed = memref_type(place.memref), op.num_bytes
    layout, size = layout_of(type), size_of(type.element_type)
    if (base := base_alignment(place.memref)) < needed:
        raise fail(
            op,
            f"{place.name} begins at a multiple of {base} bytes, but {needed} bytes are copied",
            remedy=f"declare its alignment: {{plan.align = {needed} : i64}}",
        )
    if layout.inner.data % place.width:
        raise fail(
            op, f"a vector of {place.width} elements crosses pieces of {layout.inner.data} elements"
        )
    if (byte := misaligned(machine, place, mask, needed)) is not None:
        raise fail(
            op,
            f"byte {byte} of {place.name} is not a multiple of the {needed} bytes that are copied",
            remedy=f"copy {gcd(byte, needed) // size or 1} element(s) at a time",
        )


def misaligned(machine: Threads, place: Place, mask: Array | None, needed: int) -> int | None:
    """
    Return the first byte of a place, counted from the start of its memory, in a thread where it is
    not a multiple of `needed`; None if it is in all threads where the mask is true.
    """
    type = memref_type(place.memref)
    start = AffineMap(place.map.num_dims, 0, (layout_of(type).offset(place.map.results, type),))
    (element,) = machine.indices(start, place.indices)
    byte = element * size_of(type.element_type)
    wrong = byte % needed != 0
    wrong = wrong if mask is None else wrong & mask
    return int(np.broadcast_to(byte, wrong.shape)[wrong][0]) if wrong.any() else None


def base_alignment(memref: SSAValue) -> int:
    """Return the largest number of bytes that a memref's address is known to be a multiple of."""
    if isinstance(memref, BlockArgument) and isinstance(
        op := memref.owner.parent_op(), KernelLikeOp
    ):
        return op.alignment_of(memref)
    return layout_of(memref_type(memref)).alignment


COPIES: Handlers = {CopyOp: _copy, CopyAsyncOp: _copy_async}
