# SPDX-License-Identifier: Apache-2.0
"""
Loop IR on the vector machine: the steps of a free loop are points of new axes, and so are those
of a reduction, as many at a time as fit in cache.
"""

from collections.abc import Sequence
from functools import reduce
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
        with machine.axes([op.axis], [steps]), machine.where(_is_done(machine, op)):
            machine.run(op.body.block)
            values = [machine.with_all_steps(value) for value in yielded(machine, op)]
        totals = join(monoid.data, totals, fold(monoid.data, values, (0,), start))
    machine.define(op, *totals)


def yielded(machine: Machine, op: ReduceOp) -> list[Array]:
    """What the body yields; the identity where the yield's mask fails, and out of bounds."""
    terminator = op.yield_op
    mask, is_done = machine.holds(terminator.mask, terminator.mask_operands), _is_done(machine, op)
    if mask is not None and is_done is not None:
        mask = mask & is_done
    return masked(machine, op.monoid, terminator.values, is_done if mask is None else mask)


def _is_done(machine: Machine, op: ReduceOp) -> Array | None:
    """Which steps are within the bounds of the loop; None: all."""
    found = [
        compare(machine.array(op.axis), bound)
        for compare, map in ((np.greater_equal, op.lower_bound), (np.less, op.upper_bound))
        if map is not None
        for bound in machine.indices(map.data, op.bound_operands)
    ]
    return reduce(np.logical_and, found) if found else None


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
