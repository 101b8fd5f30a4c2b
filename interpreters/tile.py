# SPDX-License-Identifier: Apache-2.0
"""
Interpreter of Tile IR on the vector machine.

All axes of a launch are dimensions, at whatever level they are bound. A combine joins over
dimensions. A stage and a share have a slab for each block.
"""

from math import prod

import numpy as np
from xdsl.ir import BlockArgument, SSAValue

from tilewright.dialects.tile import CombineOp, LaunchOp, ShareOp, StageOp
from tilewright.dialects.tile.attributes import Level
from tilewright.dialects.types import memref_type
from tilewright.interpreters.access import Place, write
from tilewright.interpreters.buffer import Buffer
from tilewright.interpreters.errors import fail
from tilewright.interpreters.loop import masked
from tilewright.interpreters.machine import Handlers, Machine
from tilewright.interpreters.monoid import fold, identities
from tilewright.interpreters.types import Array

_LAUNCH_LANES = 1 << 20
"""
Number of points of a launch that run at a time; above it, an independent block axis is cut into
pieces.
"""


def _launch(machine: Machine, op: LaunchOp) -> None:
    axes, extents = op.body.block.args, op.axis_extents()
    steps = [range(extent) for extent in extents]
    cut = _independent_axis(op)
    if cut is None:
        with machine.axes(axes, steps):
            machine.run(op.body.block)
        return
    for taken in machine.steps(extents[cut], prod(extents) // extents[cut], _LAUNCH_LANES):
        with machine.axes(axes, [*steps[:cut], taken, *steps[cut + 1 :]]):
            machine.run(op.body.block)


def _independent_axis(op: LaunchOp) -> int | None:
    """Return the first block axis that no combine joins over, or None."""
    joined = {a for inner in op.walk() if isinstance(inner, CombineOp) for a in inner.axes}
    blocks = op.axes_at(Level.BLOCK)
    return next((axis.value.index for axis in blocks if axis.value not in joined), None)


def _combine(machine: Machine, op: CombineOp) -> None:
    dims = tuple(_dimension(axis) for axis in op.axes)
    mask = machine.holds(op.mask, op.mask_operands)
    values = [_whole(machine, v, dims) for v in masked(machine, op.monoid, op.values, mask)]
    start = identities(machine.types, op.monoid, op.values.types)
    joined = fold(op.monoid.data, values, dims, start, machine.numbers, keepdims=True)
    machine.define(op, *joined)


def _dimension(axis: SSAValue) -> int:
    """Return the dimension of a launch's axis, counted from the right: -1 is the last."""
    assert isinstance(axis, BlockArgument)
    return axis.index - len(axis.owner.args)


def _whole(machine: Machine, array: Array, dims: tuple[int, ...]) -> Array:
    """
    Return `array` with every step of `dims`, because a join counts each step even of constant
    values.
    """
    shape = [1] * (machine.rank - array.ndim) + list(array.shape)
    for dim in dims:
        shape[dim] = machine.shape[dim]
    return np.broadcast_to(array, shape)


def _stage(machine: Machine, op: StageOp) -> None:
    shape, rank = machine.shape, machine.rank
    extents = tuple(op.axis_extents())
    machine.shape = _block_shape(machine, op)
    with machine.axes(op.body.block.args, [range(extent) for extent in extents]):
        machine.run(op.body.block)
        value = _slab_value(machine, op)
    machine.shape = shape
    value = value.reshape((1,) * (rank + len(extents) - value.ndim) + value.shape)
    copies = value.shape[len(extents) :]
    if any(n not in (1, m) for n, m in zip(copies, _block_shape(machine, op), strict=True)):
        raise fail(op, "the slab differs between the threads of a block")
    value = np.broadcast_to(value, extents + copies)
    slabs = np.moveaxis(value, range(len(extents)), range(-len(extents), 0))
    slot = np.arange(prod(copies)).reshape(copies) * prod(extents)
    machine.define(op, Buffer(extents, np.ascontiguousarray(slabs), slot=slot))


def _block_shape(machine: Machine, op: ShareOp | StageOp) -> tuple[int, ...]:
    """
    Return the shape of a slab's value on the machine: the extents of the axes in scope, with 1 for
    axes inside a block.
    """
    launch = op.parent_op()
    while launch is not None and not isinstance(launch, LaunchOp):
        launch = launch.parent_op()
    if launch is None:
        raise fail(op, f"a {op.name} belongs in a tile.launch")
    shape = list(machine.shape)
    for axis in launch.bound_axes():
        if axis.level is not Level.BLOCK:
            shape[_dimension(axis.value)] = 1
    return tuple(shape)


def _slab_value(machine: Machine, op: StageOp) -> Array:
    """Return the value that the body of a stage yields; zero where its mask is false."""
    value = machine.array(op.yield_op.values[0])
    mask = machine.holds(op.yield_op.mask, op.yield_op.mask_operands)
    return value if mask is None else np.where(mask, value, value.dtype.type(0))


def _share(machine: Machine, op: ShareOp) -> None:
    """
    Store each thread's value to the slab of its block. Threads that store to one element must store
    equal values.
    """
    shape, copies = memref_type(op.slab).get_shape(), _block_shape(machine, op)
    dtype = machine.array(op.value).dtype
    buffer = Buffer.poisoned(shape, dtype, copies=prod(copies))
    buffer.slot = np.arange(prod(copies)).reshape(copies) * prod(shape)
    machine.define(op, buffer)
    place = Place(op.slab, op.map.data, op.indices)
    write(machine, op, place, machine.array(op.value), machine.active)


TILE: Handlers = {LaunchOp: _launch, CombineOp: _combine, ShareOp: _share, StageOp: _stage}
