# SPDX-License-Identifier: Apache-2.0
"""Lowering of shared memory, and of loads and stores of single elements."""

from xdsl.ir import Block, Region, SSAValue

from tilewright.dialects import kernel, loop
from tilewright.dialects.cuda.expressions import SubscriptOp
from tilewright.dialects.cuda.operators import TernaryOp
from tilewright.dialects.cuda.statements import IfOp, StoreOp
from tilewright.passes.cuda.conversion import Conversion, Handlers
from tilewright.passes.cuda.filled_loads import fill_of
from tilewright.passes.cuda.registers import is_read_in_place


def _shared(to: Conversion, op: kernel.SharedOp) -> None:
    name = op.memref.name_hint or "shared"
    to.writer.values[op.memref] = to.shared.declare(op.memref, to.element(op.memref), name)


def _load(to: Conversion, op: loop.LoadOp) -> None:
    condition, subscripts = to.indices.condition(op), to.indices.subscripts(*to.accesses.places[op])
    if condition is not None:
        condition = to.writer.name_if_long(condition, subscripts[-1], "in")
        subscripts = [to.writer.name_if_long(s, condition, "i") for s in subscripts]
    value: SSAValue = SubscriptOp(to.writer.use(op.memref), subscripts).result
    select = to.accesses.filled.selects.get(op)
    if condition is not None:
        fill = None if select is None else fill_of(select)
        zero = to.writer.zero(value.type) if fill is None else to.writer.literal(fill)
        value = TernaryOp(condition, value, zero).result
    if select is None and is_read_in_place(op):
        to.writer.bind(op.result, value)
        return
    hint = op.result.name_hint or op.memref.name_hint
    result = op.result if select is None else select.result
    to.writer.values[result] = to.writer.let(value, hint)


def _store(to: Conversion, op: loop.StoreOp) -> None:
    joins = to.accesses.joins_previous_store(op)
    condition = None if joins else to.indices.condition(op)
    subscripts = to.indices.subscripts(*to.accesses.places[op])
    value = to.writer.use(op.value)
    subscripts = [to.writer.name_if_long(s, value, "i") for s in subscripts]
    store = StoreOp(value, to.writer.use(op.memref), subscripts)
    if joins and isinstance(guard := to.writer.block.last_op, IfOp):
        with to.writer.inside(guard.then_body.block):
            to.writer.statement(store)
        return
    if joins:  # the name of an offset may have come in between
        condition = to.indices.condition(op)
    if condition is None:
        to.writer.statement(store)
        return
    body = Block()
    with to.writer.inside(body):
        to.writer.statement(store)
    to.writer.statement(IfOp(condition, Region(body)))


MEMORY: Handlers = {
    kernel.SharedOp: _shared,
    loop.LoadOp: _load,
    loop.StoreOp: _store,
}
