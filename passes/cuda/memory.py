# SPDX-License-Identifier: Apache-2.0
"""Lowering of shared memory, of loads and stores of single elements, and of copies of several."""

from collections.abc import Sequence

from xdsl.ir import Block, Region, SSAValue

from tilewright.dialects import kernel, loop
from tilewright.dialects.cuda.copies import AddressOp, CopyOp
from tilewright.dialects.cuda.expressions import SubscriptOp
from tilewright.dialects.cuda.operators import TernaryOp
from tilewright.dialects.cuda.statements import IfOp, StatementOp, StoreOp
from tilewright.dialects.cuda.threads import PerformOp
from tilewright.dialects.kernel.registers import LOCAL
from tilewright.dialects.tile import SHARED
from tilewright.dialects.types import memref_type
from tilewright.passes.cuda.conversion import Conversion, Handlers
from tilewright.passes.cuda.filled_loads import fill_of
from tilewright.passes.cuda.registers import is_read_in_place

_MAX_COLUMNS = 40
"""Columns above which a subscript is given a name."""


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


def _copy(to: Conversion, op: kernel.CopyOp) -> None:
    condition = to.indices.condition(op)
    source, target = _sides(to, op)
    is_kept = memref_type(op.target).memory_space not in (SHARED, LOCAL)
    if condition is None or not is_kept:
        to.writer.statement(_moved(to, op, source, target, condition))
        return
    body = Block()
    with to.writer.inside(body):
        to.writer.statement(_moved(to, op, source, target, None))
    to.writer.statement(IfOp(condition, Region(body)))


def _moved(
    to: Conversion,
    op: kernel.CopyOp,
    source: Sequence[SSAValue],
    target: Sequence[SSAValue],
    condition: SSAValue | None,
) -> StatementOp:
    """Return the statement that copies the elements; it stores zeros where `condition` fails."""
    read, written = to.writer.use(op.source), to.writer.use(op.target)
    width = op.width.value.data
    if width > 1:
        addresses = AddressOp(read, source).result, AddressOp(written, target).result
        return CopyOp(*addresses, width, condition)
    value: SSAValue = SubscriptOp(read, source).result
    if condition is not None:
        value = TernaryOp(condition, value, to.writer.zero(value.type)).result
    return StoreOp(value, written, target)


def _copy_async(to: Conversion, op: kernel.CopyAsyncOp) -> None:
    condition = to.indices.condition(op)
    places = to.accesses.places[op]
    (source,), (target,) = (to.indices.subscripts(place) for place in places)
    masked = [] if condition is None else [condition]
    source, target, *masked = to.writer.fitting([source, target, *masked], ["i", "i", "in"])
    read, written = to.writer.use(op.source), to.writer.use(op.target)
    address = AddressOp(written, [target]).result
    if (beyond := places[-1].beyond) is not None:
        address = AddressOp(address, [to.indices.value(beyond)]).result
    arguments = [address, AddressOp(read, [source]).result, *masked]
    name = "copy_async_or_zero" if masked else "copy_async"
    to.writer.statement(PerformOp(name, arguments, [op.num_bytes]))


def _sides(to: Conversion, op: kernel.CopyOp) -> tuple[list[SSAValue], list[SSAValue]]:
    """Return the subscripts of source and target; long subscripts get names."""
    source, target = (to.indices.subscripts(place) for place in to.accesses.places[op])
    target = [to.writer.name_if_longer(t, _MAX_COLUMNS, "i") for t in target]
    return [to.writer.name_if_longer(s, _MAX_COLUMNS, "i") for s in source], target


MEMORY: Handlers = {
    kernel.SharedOp: _shared,
    loop.LoadOp: _load,
    loop.StoreOp: _store,
    kernel.CopyOp: _copy,
    kernel.CopyAsyncOp: _copy_async,
}
