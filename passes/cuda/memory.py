# SPDX-License-Identifier: Apache-2.0
"""Memory that a kernel declares, loads of one element and stores of one."""

from xdsl.ir import Block, Region, SSAValue

from tilewright.dialects import kernel, loop
from tilewright.dialects.cuda_expressions import LiteralOp, SubscriptOp, TernaryOp
from tilewright.dialects.cuda_statements import IfOp, SharedOp, StoreOp
from tilewright.dialects.types import memref_type
from tilewright.passes.cuda.conversion import Conversion, Handlers
from tilewright.passes.cuda.filled_loads import fill_of


def _shared(to: Conversion, op: kernel.SharedOp) -> None:
    element = to.element(op.memref)
    size = 1
    for extent in memref_type(op.memref).get_shape():
        size *= extent
    shared = SharedOp(size, element, op.memref.name_hint or "shared")
    to.writer.statement(shared)
    to.writer.values[op.memref] = shared.pointer


def _load(to: Conversion, op: loop.LoadOp) -> None:
    condition, offset = to.indices.condition(op), to.indices.offset(op)
    if condition is not None:
        condition = to.writer.name_if_long(condition, offset, "in")
        offset = to.writer.name_if_long(offset, condition, "i")
    value: SSAValue = SubscriptOp(to.writer.use(op.memref), offset).result
    select = to.accesses.filled.selects.get(op)
    if condition is not None:
        fill = None if select is None else fill_of(select)
        zero = to.writer.zero(value.type) if fill is None else LiteralOp(fill).result
        value = TernaryOp(condition, value, zero).result
    hint = op.result.name_hint or op.memref.name_hint
    result = op.result if select is None else select.result
    to.writer.values[result] = to.writer.let(value, hint)


def _store(to: Conversion, op: loop.StoreOp) -> None:
    joins = to.accesses.joins_previous_store(op)
    condition = None if joins else to.indices.condition(op)
    offset, value = to.indices.offset(op), to.writer.use(op.value)
    offset = to.writer.name_if_long(offset, value, "i")
    store = StoreOp(value, to.writer.use(op.memref), offset)
    if joins and isinstance(guard := to.writer.block.last_op, IfOp):
        with to.writer.inside(guard.then_body.block):
            to.writer.statement(store)
        return
    if joins:  # unless the name of the offset has come in between
        condition = to.indices.condition(op)
    if condition is None:
        to.writer.statement(store)
        return
    body = Block()
    with to.writer.inside(body):
        to.writer.statement(store)
    to.writer.statement(IfOp(condition, Region(body)))


MEMORY: Handlers = {kernel.SharedOp: _shared, loop.LoadOp: _load, loop.StoreOp: _store}
