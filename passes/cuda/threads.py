# SPDX-License-Identifier: Apache-2.0
"""Ids of threads and blocks, shuffles and barriers, as statements of CUDA IR."""

from xdsl.dialects.builtin import i32

from tilewright.dialects import kernel
from tilewright.dialects.axes import range_of_value
from tilewright.dialects.cuda.expressions import BuiltinOp
from tilewright.dialects.cuda.threads import PerformOp, ShuffleOp, SyncthreadsOp
from tilewright.dialects.cuda.types import Builtin
from tilewright.dialects.kernel.barrier import NAMES
from tilewright.passes.cuda.casts import cast
from tilewright.passes.cuda.conversion import Conversion, Handlers


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
