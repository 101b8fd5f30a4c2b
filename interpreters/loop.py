# SPDX-License-Identifier: Apache-2.0
"""
Loop IR on the vector machine: the steps of a free loop are points of new axes, and so are those
of a reduction, as many at a time as fit in cache.
"""

from math import prod

import numpy as np
from xdsl.ir import Attribute

from tilewright.dialects.loop import ForOp, ReduceOp, YieldOp
from tilewright.dialects.monoid import MonoidAttr
from tilewright.interpreters.access import ACCESS
from tilewright.interpreters.arithmetic import ARITHMETIC
from tilewright.interpreters.machine import Handlers, Machine
from tilewright.interpreters.scalar import MONOIDS
from tilewright.interpreters.types import Array

_FREE_LANES = 1 << 21
"""Points of a free loop taken at a time; beyond, its outermost axis is cut into pieces."""


def _for(machine: Machine, op: ForOp) -> None:
    axes, extents = op.body.block.args, op.axis_extents()
    if 0 in extents:
        return
    if not extents:
        machine.run(op.body.block)
        return
    inner = [range(extent) for extent in extents[1:]]
    for steps in machine.steps(extents[0], machine.lanes * prod(extents[1:]), _FREE_LANES):
        with machine.axes(axes, [steps, *inner]):
            machine.run(op.body.block)


def _reduce(machine: Machine, op: ReduceOp) -> None:
    (extent,), join = op.axis_extents(), MONOIDS[op.monoid.data]
    totals = [identity(machine, op.monoid, value.type) for value in op.results]
    for steps in machine.steps(extent, machine.lanes):
        with machine.axes([op.axis], [steps]):
            machine.run(op.body.block)
            pieces = [_joined(machine, op, position) for position in range(len(totals))]
        totals = [join(total, piece) for total, piece in zip(totals, pieces, strict=True)]
    machine.define(op, *totals)


def _joined(machine: Machine, op: ReduceOp, position: int) -> Array:
    """What the steps in scope yield, joined over the innermost loop's axis."""
    value = yielded(machine, op, position)
    whole = value.reshape((1,) * (machine.rank - value.ndim) + value.shape)
    whole = np.broadcast_to(whole, (machine.shape[0], *whole.shape[1:]))
    return MONOIDS[op.monoid.data].reduce(whole, axis=0)


def yielded(machine: Machine, op: ReduceOp, position: int) -> Array:
    """One of the values that the body yields; the identity where the yield's mask fails."""
    terminator = op.yield_op
    value = machine.array(terminator.values[position])
    mask = machine.holds(terminator.mask, terminator.mask_operands)
    if mask is None or mask.all():
        return value
    return np.where(mask, value, identity(machine, op.monoid, op.results[position].type))


def identity(machine: Machine, monoid: MonoidAttr, type: Attribute) -> Array:
    """The identity of `monoid` for elements of `type`."""
    return machine.types.constant(monoid.identity(type))


def _yield(machine: Machine, op: YieldOp) -> None:
    """Nothing: who runs the body reads what it yields."""


LOOP: Handlers = {**ARITHMETIC, **ACCESS, ForOp: _for, ReduceOp: _reduce, YieldOp: _yield}
