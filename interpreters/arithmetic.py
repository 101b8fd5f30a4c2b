# SPDX-License-Identifier: Apache-2.0
"""Handlers of `arith`, `math` and `scalar` ops on the vector machine."""

from xdsl.dialects import arith
from xdsl.ir import Operation

from tilewright.interpreters.casts import CASTS, Cast
from tilewright.interpreters.machine import Handler, Handlers, Machine
from tilewright.interpreters.scalar import (
    COMPARE_FLOATS,
    COMPARE_INTEGERS,
    ELEMENTWISE,
    Function,
)


def _constant(machine: Machine, op: arith.ConstantOp) -> None:
    machine.define(op, machine.types.constant(op.value))


def _cast(cast: Cast) -> Handler:
    def run(machine: Machine, op: Operation) -> None:
        (operand,) = op.operands
        dtype = machine.types[op.results[0].type]
        machine.define(op, cast(machine.array(operand), operand.type, dtype))

    return run


def _compare(machine: Machine, op: arith.CmpfOp | arith.CmpiOp) -> None:
    table = COMPARE_FLOATS if isinstance(op, arith.CmpfOp) else COMPARE_INTEGERS
    function = table[op.predicate.value.data]
    machine.define(op, function(machine.array(op.lhs), machine.array(op.rhs)))


def _elementwise(function: Function) -> Handler:
    def run(machine: Machine, op: Operation) -> None:
        machine.define(op, function(*map(machine.array, op.operands)))

    return run


ARITHMETIC: Handlers = {
    arith.ConstantOp: _constant,
    arith.CmpfOp: _compare,
    arith.CmpiOp: _compare,
    **{op: _cast(cast) for op, cast in CASTS.items()},
    **{op: _elementwise(function) for op, function in ELEMENTWISE.items()},
}
