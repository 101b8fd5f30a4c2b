# SPDX-License-Identifier: Apache-2.0
"""
Ordered loops on the vector machine: the steps of a scan are points of a new axis, as many at a time
as fit in cache; what is joined so far goes on from one piece to the next.
"""

from tilewright.dialects.loop import PrefixOp, ScanOp
from tilewright.interpreters.machine import Handlers, Machine
from tilewright.interpreters.monoid import accumulate, join


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
    joined = accumulate(monoid, values)
    if before is not None:
        joined = join(monoid, before, joined)
    machine.running[op] = [value[-1] for value in joined]
    machine.define(op, *joined)


SCAN: Handlers = {ScanOp: _scan, PrefixOp: _prefix}
