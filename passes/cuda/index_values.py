# SPDX-License-Identifier: Apache-2.0
"""Constants, indices and predicates: what affine expressions give as values."""

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, IntegerType
from xdsl.utils.hints import isa

from tilewright.dialects import kernel, loop
from tilewright.dialects.cuda.expressions import CallOp, CastOp
from tilewright.dialects.cuda.operators import TernaryOp
from tilewright.dialects.index import Range
from tilewright.passes.cuda.casts import cast
from tilewright.passes.cuda.conversion import Conversion, Handlers
from tilewright.passes.cuda.writer import is_pending, stays_inline
from tilewright.passes.facts.integer_ranges import range_of_integer


def _constant(to: Conversion, op: arith.ConstantOp) -> None:
    value = op.value
    if isinstance(value, IntegerAttr) and isinstance(value.type, IndexType):
        value = IntegerAttr(value.value, to.writer.index_type)
    if not isinstance(value, IntegerAttr | FloatAttr):
        raise to.writer.unsupported(f"the constant {value}")
    to.writer.type(value.type)
    to.writer.constants[op.result] = value


def _named_index(to: Conversion, op: kernel.IndexOp) -> None:
    to.writer.values[op.result] = to.indices.named(op)


def _index(to: Conversion, op: loop.IndexOp) -> None:
    type = op.result.type
    assert isa(type, IntegerType)
    if (known := to.indices.known(op)) is not None:
        to.writer.constants[op.result] = IntegerAttr(known, type, truncate_bits=True)
        return
    (index,) = to.indices.subscripts(*to.accesses.places[op])
    if index.type == type or stays_inline(op.result, index):
        to.writer.bind(op.result, cast(index, type))
        return
    name = to.writer.let(index, op.result.name_hint or "i") if is_pending(index) else index
    to.writer.indices[op.result] = name


def _to_index(to: Conversion, op: loop.ToIndexOp) -> None:
    condition, value = to.indices.condition(op), to.writer.use(op.value)
    type = op.value.type
    assert isa(type, IntegerType)
    size = op.bound.value.data
    if range_of_integer(op.value) not in Range.extent(size):
        bound = to.writer.literal(IntegerAttr(size, type))
        value = CallOp("checked_index", [value, bound], value.type).result
    if condition is not None:
        condition = to.writer.name_if_long(condition, value, "in")
        value = TernaryOp(condition, value, to.writer.zero(value.type)).result
    if value.type != to.writer.index_type:
        value = CastOp(value, to.writer.index_type).result
    to.writer.values[op.result] = to.writer.let(value, op.result.name_hint or "s")


def _predicate(to: Conversion, op: loop.PredicateOp) -> None:
    condition = to.indices.condition(op)
    if condition is None:
        to.writer.constants[op.result] = IntegerAttr(1, 1)
        return
    to.writer.bind(op.result, condition)


INDEX_VALUES: Handlers = {
    arith.ConstantOp: _constant,
    kernel.IndexOp: _named_index,
    loop.IndexOp: _index,
    loop.ToIndexOp: _to_index,
    loop.PredicateOp: _predicate,
}
