# SPDX-License-Identifier: Apache-2.0
"""
Interpreter of arrays of registers, one for each thread, and of unrolled nests.

The steps of an unrolled nest are points of new axes, so all of them run at once.
"""

import numpy as np

from tilewright.dialects.kernel import RegistersOp, UnrollOp
from tilewright.dialects.types import memref_type
from tilewright.interpreters.buffer import Buffer
from tilewright.interpreters.machine import Handlers, Machine


def _registers(machine: Machine, op: RegistersOp) -> None:
    type = memref_type(op.memref)
    dtype = machine.types[type.element_type]
    buffer = Buffer.poisoned(type.get_shape(), dtype, copies=machine.lanes)
    buffer.slot = (np.arange(machine.lanes) * buffer.size).reshape(machine.shape)
    machine.define(op, buffer)


def _unroll(machine: Machine, op: UnrollOp) -> None:
    steps = [range(extent) for extent in op.axis_extents()]
    with machine.axes(op.body.block.args, steps):
        machine.run(op.body.block)


REGISTERS: Handlers = {RegistersOp: _registers, UnrollOp: _unroll}
