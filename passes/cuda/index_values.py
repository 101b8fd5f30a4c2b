# SPDX-License-Identifier: Apache-2.0
"""Lowering of constants, indices, predicates, ids of threads and blocks, shuffles and barriers."""

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, IntegerType, i32
from xdsl.utils.hints import isa

from tilewright.dialects import kernel, loop
from tilewright.dialects.axes import range_of_value
from tilewright.dialects.cuda.expressions import BuiltinOp, CallOp, CastOp
from tilewright.dialects.cuda.operators import TernaryOp
from tilewright.dialects.cuda.threads import PerformOp, ShuffleOp, SyncthreadsOp
from tilewright.dialects.cuda.types import Builtin
from tilewright.dialects.index import Range
from tilewright.dialects.kernel.barrier import NAMES
from tilewright.passes.cuda.casts import cast
from tilewright.passes.cuda.conversion import Conversion, Handlers
from tilewright.passes.cuda.writer import is_pending, stays_inline


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
    from tilewright.passes.facts.integer_ranges import range_of_integer

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


def _block_id(to: Conversion, op: kernel.BlockIdOp) -> None:
    _name_builtin(to, op, Builtin.BLOCK, "b")


def _thread_id(to: Conversion, op: kernel.ThreadIdOp) -> None:
    _name_builtin(to, op, Builtin.THREAD, "t")


def _name_builtin(to: Conversion, op: kernel.IdOp, variable: Builtin, hint: str) -> None:
    value = BuiltinOp(variable, to.writer.index_type).result
    to.writer.values[op.result] = to.writer.let(value, op.result.name_hint or hint)


def _barrier(to: Conversion, op: kernel.BarrierOp) -> None:
    to.writer.statement(SyncthreadsOp())


def _warp_barrier(to: Conversion, op: kernel.WarpBarrierOp) -> None:
    to.writer.statement(PerformOp("__syncwarp"))


def _named_barrier(to: Conversion, op: kernel.NamedBarrierOp) -> None:
    ids = range_of_value(op.id) or NAMES
    id = cast(to.writer.use(op.id), i32)
    to.writer.statement(PerformOp("named_barrier", [id], [op.threads.value.data, ids.high]))


def _shuffle(to: Conversion, op: kernel.ShuffleOp) -> None:
    value, hint = to.writer.use(op.value), op.result.name_hint
    offset, width = op.offset.value.data, op.width.value.data
    shuffle = ShuffleOp(op.mode.data, value, offset, width, hint)
    to.writer.statement(shuffle)
    to.writer.values[op.result] = shuffle.result


THREADS: Handlers = {
    kernel.BlockIdOp: _block_id,
    kernel.ThreadIdOp: _thread_id,
    kernel.BarrierOp: _barrier,
    kernel.WarpBarrierOp: _warp_barrier,
    kernel.NamedBarrierOp: _named_barrier,
    kernel.ShuffleOp: _shuffle,
}
