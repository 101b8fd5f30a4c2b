# SPDX-License-Identifier: Apache-2.0
"""Indices as integers, masks as truth values and integers as indices, on the vector machine."""

import numpy as np

from tilewright.dialects.loop import IndexOp, PredicateOp, ToIndexOp
from tilewright.interpreters.errors import fail
from tilewright.interpreters.machine import Handlers, Machine


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
            f"no index of an axis of size {size}",
            remedy="indices go from 0 up to the size of what they index",
        )
    # what is masked off or inactive is 0 where it is no index, so that nothing goes astray
    away = outside if mask is None else outside | ~mask
    machine.define(op, np.where(away, 0, value))


VALUES: Handlers = {IndexOp: _index, PredicateOp: _predicate, ToIndexOp: _to_index}
