# SPDX-License-Identifier: Apache-2.0
"""
Lowering of ops that synchronise or join blocks. A block finds out in this way whether it is the
last of several blocks to arrive at a counter:

    __shared__ bool is_last[1];
    __syncthreads();
    if (t == 0) {
      is_last[0] = arrives_last(&arrived[i], 4);
    }
    __syncthreads();
    const bool last = is_last[0];

The first barrier makes all writes of the block precede the arrival, which one thread performs. The
second barrier makes the result of this thread visible to the whole block.
"""

from functools import partial

from xdsl.dialects.builtin import i1, i64
from xdsl.ir import Attribute, Block, Operation, Region

from tilewright.dialects import kernel
from tilewright.dialects.cuda.copies import AddressOp
from tilewright.dialects.cuda.expressions import CallOp, SubscriptOp
from tilewright.dialects.cuda.operators import CompareOp
from tilewright.dialects.cuda.statements import IfOp, StoreOp
from tilewright.dialects.cuda.threads import PerformOp, RemoteOp, SyncthreadsOp
from tilewright.dialects.cuda.types import Comparison
from tilewright.dialects.monoid import Monoid
from tilewright.passes.cuda.conversion import Conversion, Handlers

_ATOMIC = {Monoid.ADD: "atomicAdd", Monoid.MAX: "atomicMax", Monoid.MIN: "atomicMin"}


def _perform(name: str, to: Conversion, _: Operation) -> None:
    to.writer.statement(PerformOp(name))


def _remote(to: Conversion, op: kernel.RemoteOp) -> None:
    source, rank = to.writer.use(op.source), to.writer.use(op.rank)
    remote = RemoteOp(source, rank, op.memref.name_hint or "theirs")
    to.writer.statement(remote)
    to.writer.values[op.memref] = remote.pointer


def _arrive(to: Conversion, op: kernel.ArriveOp) -> None:
    is_last = to.shared.declare(op.is_last, i1, "is_last")
    to.writer.statement(SyncthreadsOp())
    elected = CompareOp(Comparison.EQ, to.thread(), to.writer.index(0)).result
    body = Block()
    with to.writer.inside(body):
        (counter,) = to.indices.subscripts(*to.accesses.places[op])
        address = AddressOp(to.writer.use(op.counter), [counter]).result
        blocks = to.writer.index(op.blocks.value.data)
        arrives = CallOp("arrives_last", [address, blocks], i1).result
        to.writer.statement(StoreOp(arrives, is_last, [to.writer.index(0)]))
    to.writer.statement(IfOp(elected, Region(body)))
    to.writer.statement(SyncthreadsOp())
    known = SubscriptOp(is_last, [to.writer.index(0)]).result
    to.writer.values[op.is_last] = to.writer.let(known, op.is_last.name_hint or "last")


def _atomic(to: Conversion, op: kernel.AtomicOp) -> None:
    condition = to.indices.condition(op)
    (offset,) = to.indices.subscripts(*to.accesses.places[op])
    body = Block()
    with to.writer.inside(to.writer.block if condition is None else body):
        address = AddressOp(to.writer.use(op.memref), [offset]).result
        name = _function(op.monoid.data, op.value.type)
        to.writer.statement(PerformOp(name, [address, to.writer.use(op.value)]))
    if condition is not None:
        to.writer.statement(IfOp(condition, Region(body)))


def _function(monoid: Monoid, type: Attribute) -> str:
    """
    Return the name of the CUDA function for an atomic update; `atomicAdd` has no signed 64-bit
    version.
    """
    is_long_sum = monoid is Monoid.ADD and type == i64
    return "atomic_add_long" if is_long_sum else _ATOMIC[monoid]


GRID: Handlers = {
    kernel.ClusterBarrierOp: partial(_perform, "cluster_barrier"),
    kernel.ClusterArriveOp: partial(_perform, "cluster_arrive"),
    kernel.ClusterWaitOp: partial(_perform, "cluster_wait"),
    kernel.RemoteOp: _remote,
    kernel.ArriveOp: _arrive,
    kernel.AtomicOp: _atomic,
}
