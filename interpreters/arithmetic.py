# SPDX-License-Identifier: Apache-2.0
"""Handlers of `arith`, `math` and `scalar` ops on the vector machine."""

from xdsl.dialects import arith
from xdsl.ir import Operation

from tilewright.interpreters.casts import CASTS
from tilewright.interpreters.machine import Handlers, Machine
from tilewright.interpreters.scalar import COMPARE_FLOATS, COMPARE_INTEGERS, ELEMENTWISE


def _constant(machine: Machine, op: arith.ConstantOp) -> None:
    machine.define(op, machine.types.constant(op.value))


def _cast(machine: Machine, op: Operation) -> None:
    (operand,), cast = op.operands, machine.numbers.casts[type(op)]
    dtype = machine.types[op.results[0].type]
    machine.define(op, cast(machine.array(operand), operand.type, dtype))


def _compare(machine: Machine, op: arith.CmpfOp | arith.CmpiOp) -> None:
    table = COMPARE_FLOATS if isinstance(op, arith.CmpfOp) else COMPARE_INTEGERS
    function = table[op.predicate.value.data]
    machine.define(op, function(machine.array(op.lhs), machine.array(op.rhs)))


def _elementwise(machine: Machine, op: Operation) -> None:
    function = machine.numbers.functions[type(op)]
    machine.define(op, function(*map(machine.array, op.operands)))


ARITHMETIC: Handlers = {
    arith.ConstantOp: _constant,
    arith.CmpfOp: _compare,
    arith.CmpiOp: _compare,
    **dict.fromkeys(CASTS, _cast),
    **dict.fromkeys(ELEMENTWISE, _elementwise),
}
