# SPDX-License-Identifier: Apache-2.0
"""`scf` on the vector machine: threads on different branches take turns, the others masked off."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects import scf
from xdsl.ir import Block

from tilewright.interpreters.errors import fail
from tilewright.interpreters.machine import Handlers, Machine
from tilewright.interpreters.types import Array


def _if(machine: Machine, op: scf.IfOp) -> None:
    outer, condition = machine.active, machine.array(op.cond)
    results: list[Any] = []
    for region, taken in ((op.true_region, condition), (op.false_region, ~condition)):
        mask = taken if outer is None else taken & outer
        if region.blocks and mask.any():
            results = _merged(mask, _run_masked(machine, region.block, mask), results)
    machine.active = outer
    machine.define(op, *results)


def _for(machine: Machine, op: scf.ForOp) -> None:
    outer = machine.active
    index, end, step = map(machine.array, (op.lb, op.ub, op.step))
    if (step <= 0).any():
        raise fail(op, f"the step {step.min()} must be at least 1")
    carried = machine.read(op.iter_args)
    while (live := index < end if outer is None else (index < end) & outer).any():
        body = op.body.block
        machine.values.update(zip(body.args, [index, *carried], strict=True))
        carried = _merged(live, _run_masked(machine, body, live), carried)
        index = index + step
    machine.active = outer
    machine.define(op, *carried)


def _run_masked(machine: Machine, block: Block, mask: Array) -> list[Any]:
    """Run `block` where `mask` is true; return what it yields."""
    machine.active = None if mask.all() else mask
    machine.run(block)
    assert block.last_op is not None
    return machine.read(block.last_op.operands)


def _merged(mask: Array, new: Sequence[Any], old: Sequence[Any]) -> list[Any]:
    """Return `new` where the mask is true, else `old`; `new` everywhere if there is nothing old."""
    if not old or mask.all():
        return list(new)
    return [np.where(mask, a, b) for a, b in zip(new, old, strict=True)]


def _yield(machine: Machine, op: scf.YieldOp) -> None:
    """Do nothing: the handler of the loop or branch reads the yielded values."""


CONTROL: Handlers = {scf.IfOp: _if, scf.ForOp: _for, scf.YieldOp: _yield}
