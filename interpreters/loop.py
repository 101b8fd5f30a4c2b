# SPDX-License-Identifier: Apache-2.0
"""
Interpreter of Loop IR on the vector machine.

The steps of a free loop are points of new axes. Those of a reduction or scan are too, in pieces
that fit in cache. The joined values of a scan are carried from one piece to the next.
"""

from collections.abc import Sequence
from functools import reduce
from math import prod

import numpy as np
from xdsl.ir import SSAValue

from tilewright.dialects.loop import (
    ForOp,
    IndexOp,
    PredicateOp,
    PrefixOp,
    ReduceOp,
    ScanOp,
    ToIndexOp,
    YieldOp,
)
from tilewright.dialects.monoid import MonoidAttr
from tilewright.interpreters.access import ACCESS
from tilewright.interpreters.arithmetic import ARITHMETIC
from tilewright.interpreters.errors import fail
from tilewright.interpreters.machine import Handlers, Machine
from tilewright.interpreters.monoid import accumulate, fold, identities, join
from tilewright.interpreters.types import Array

_FREE_LANES = 1 << 21
"""
Number of points of a free loop that run at a time; above it, its outermost axis is cut into pieces.
"""


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
        with machine.axes([op.axis], [steps]), machine.where(_in_bounds(machine, op)):
            machine.run(op.body.block)
            values = [machine.with_all_steps(value) for value in yielded(machine, op)]
        folded = fold(monoid.data, values, (0,), start, machine.numbers)
        totals = join(monoid.data, totals, folded, machine.numbers)
    machine.define(op, *totals)


def yielded(machine: Machine, op: ReduceOp) -> list[Array]:
    """
    Return the values that the body yields at each step. Where the mask is false or the step is out
    of bounds, return the identity of the monoid instead.
    """
    terminator = op.yield_op
    mask = machine.holds(terminator.mask, terminator.mask_operands)
    in_bounds = _in_bounds(machine, op)
    if mask is not None and in_bounds is not None:
        mask = mask & in_bounds
    return masked(machine, op.monoid, terminator.values, in_bounds if mask is None else mask)


def _in_bounds(machine: Machine, op: ReduceOp) -> Array | None:
    """Return a mask of the steps within the bounds of the loop; None if all are."""
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
    """Return `values` where the mask is true, else the identity of `monoid`."""
    arrays = [machine.array(value) for value in values]
    if mask is None or mask.all():
        return arrays
    others = identities(machine.types, monoid, [value.type for value in values])
    return [np.where(mask, array, other) for array, other in zip(arrays, others, strict=True)]


def _yield(machine: Machine, op: YieldOp) -> None:
    """Do nothing: the handler of the loop reads the yielded values."""


def _scan(machine: Machine, op: ScanOp) -> None:
    (extent,) = op.axis_extents()
    for prefix in op.prefixes:
        machine.running.pop(prefix, None)
    for steps in machine.steps(extent, machine.lanes):
        with machine.axes([op.axis], [steps]):
            machine.run(op.body.block)


def _prefix(machine: Machine, op: PrefixOp) -> None:
    monoid, before = op.monoid.data, machine.running.get(op)
    values = [machine.with_all_steps(machine.array(value)) for value in op.values]
    joined = accumulate(monoid, values, machine.numbers)
    if before is not None:
        joined = join(monoid, before, joined, machine.numbers)
    machine.running[op] = [value[-1] for value in joined]
    if op.is_exclusive:
        start = before or identities(machine.types, op.monoid, op.results_.types)
        joined = [_delayed(value, first) for value, first in zip(joined, start, strict=True)]
    machine.define(op, *joined)


def _delayed(values: Array, first: Array) -> Array:
    """Return the values of the step before each step, and `first` for the first step."""
    start = np.broadcast_to(np.asarray(first, values.dtype), values.shape[1:])
    return np.concatenate([start[None], values[:-1]])


def _index(machine: Machine, op: IndexOp) -> None:
    (value,) = machine.indices(op.map.data, op.indices)
    machine.define(op, value.astype(machine.types[op.result.type]))


def _predicate(machine: Machine, op: PredicateOp) -> None:
    holds = machine.holds(op.map, op.indices)
    machine.define(op, np.asarray(True) if holds is None else holds)


def _to_index(machine: Machine, op: ToIndexOp) -> None:
    value, mask = machine.array(op.value).astype(np.int64), machine.mask_of(op)
    size = op.bound.value.data
    outside = (value < 0) | (value >= size)
    wrong = outside if mask is None else outside & mask
    if wrong.any():
        name = op.value.name_hint or "value"
        raise fail(
            op,
            f"%{name} is {np.broadcast_to(value, wrong.shape)[wrong][0]}, "
            f"not an index of an axis of size {size}",
            remedy="indices go from 0 up to the size of what they index",
        )
    # Inactive points get index 0, so that later accesses stay in bounds.
    away = outside if mask is None else outside | ~mask
    machine.define(op, np.where(away, 0, value))


LOOP: Handlers = {
    **ARITHMETIC,
    **ACCESS,
    ForOp: _for,
    ReduceOp: _reduce,
    YieldOp: _yield,
    ScanOp: _scan,
    PrefixOp: _prefix,
    IndexOp: _index,
    PredicateOp: _predicate,
    ToIndexOp: _to_index,
}
