# SPDX-License-Identifier: Apache-2.0
"""
Loop IR on the vector machine: the steps of a free loop are points of new axes, and so are those
of a reduction, as many at a time as fit in cache.
"""

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.ir import SSAValue

from tilewright.dialects.loop import ForOp, ReduceOp, YieldOp
from tilewright.dialects.monoid import MonoidAttr
from tilewright.interpreters.access import ACCESS
from tilewright.interpreters.arithmetic import ARITHMETIC
from tilewright.interpreters.machine import Handlers, Machine
from tilewright.interpreters.monoid import fold, identities, join
from tilewright.interpreters.scan import SCAN
from tilewright.interpreters.types import Array
from tilewright.interpreters.values import VALUES

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
    (extent,), monoid = op.axis_extents(), op.monoid
    start = identities(machine.types, monoid, op.results_.types)
    totals = start
    for steps in machine.steps(extent, machine.lanes):
        with machine.axes([op.axis], [steps]), machine.where(_below(machine, op)):
            machine.run(op.body.block)
            values = [machine.with_all_steps(value) for value in yielded(machine, op)]
        totals = join(monoid.data, totals, fold(monoid.data, values, (0,), start))
    machine.define(op, *totals)


def yielded(machine: Machine, op: ReduceOp) -> list[Array]:
    """What the body yields; the identity where the yield's mask fails, and beyond the bound."""
    terminator = op.yield_op
    mask, below = machine.holds(terminator.mask, terminator.mask_operands), _below(machine, op)
    if mask is not None and below is not None:
        mask = mask & below
    return masked(machine, op.monoid, terminator.values, below if mask is None else mask)


def _below(machine: Machine, op: ReduceOp) -> Array | None:
    """Which steps are below the bound of the loop; None: all."""
    bounds = () if op.bound is None else machine.indices(op.bound.data, op.bound_operands)
    below: Array | None = None
    for bound in bounds:
        holds = machine.array(op.axis) < bound
        below = holds if below is None else below & holds
    return below


def masked(
    machine: Machine, monoid: MonoidAttr, values: Sequence[SSAValue], mask: Array | None
) -> list[Array]:
    """`values` where the mask holds, else the identity of `monoid`."""
    arrays = [machine.array(value) for value in values]
    if mask is None or mask.all():
        return arrays
    others = identities(machine.types, monoid, [value.type for value in values])
    return [np.where(mask, array, other) for array, other in zip(arrays, others, strict=True)]


def _yield(machine: Machine, op: YieldOp) -> None:
    """Nothing: who runs the body reads what it yields."""


LOOP: Handlers = {
    **ARITHMETIC,
    **ACCESS,
    **VALUES,
    **SCAN,
    ForOp: _for,
    ReduceOp: _reduce,
    YieldOp: _yield,
}
