# SPDX-License-Identifier: Apache-2.0
"""Bugs of cooperation between blocks: cluster barriers, remote reads, counters and updates."""

from collections.abc import Iterator
from functools import partial

from xdsl.dialects import arith
from xdsl.dialects.builtin import AffineMapAttr, IntegerAttr, i64
from xdsl.ir import Operation
from xdsl.ir.affine import AffineMap

from tilewright.codegen.mutations.accesses import subscripts
from tilewright.codegen.mutations.mutation import Mutation, Rules, dropped, insert_before
from tilewright.codegen.mutations.synchronisation import add_to_operand, moved_down, moved_up
from tilewright.dialects import kernel


def _barrier_of_block(op: kernel.ClusterBarrierOp) -> Iterator[Mutation]:
    yield Mutation("only the block waits", _wait_for_block)


def _wait_for_block(op: Operation) -> None:
    insert_before(op, kernel.BarrierOp())
    op.detach()


def _wrong_rank(op: kernel.RemoteOp) -> Iterator[Mutation]:
    """
    Yield wrong blocks of the cluster to read from: the first one for all readers, one that does not
    exist, and the reader's own.
    """
    blocks = _blocks_of_cluster(op)
    yield Mutation("of the first block", partial(add_to_operand, number=1, more=0, modulo=1))
    yield Mutation("of no block", partial(add_to_operand, number=1, more=blocks))
    yield Mutation("its own memory", _read_own)


def _blocks_of_cluster(op: Operation) -> int:
    cluster = kernel.function_of(op).cluster
    assert cluster is not None
    return cluster.value.data


def _read_own(op: Operation) -> None:
    assert isinstance(op, kernel.RemoteOp)
    op.memref.replace_all_uses_with(op.source)
    op.detach()


def _wrong_arrival(op: kernel.ArriveOp) -> Iterator[Mutation]:
    yield Mutation("counts a block more", partial(_set_blocks, more=1))
    yield Mutation("counts a block less", partial(_set_blocks, more=-1))
    if any(result.used_dims() for result in op.map.data.results):
        yield Mutation("all share a counter", _share_counter)
    yield Mutation("every block is the last", partial(_decide, is_last=True))
    yield Mutation("no block is the last", partial(_decide, is_last=False))


def _set_blocks(op: Operation, *, more: int) -> None:
    assert isinstance(op, kernel.ArriveOp)
    op.properties["blocks"] = IntegerAttr(op.blocks.value.data + more, i64)


def _share_counter(op: Operation) -> None:
    assert isinstance(op, kernel.ArriveOp)
    old = op.map.data
    none = AffineMap(old.num_dims, 0, tuple(result * 0 for result in old.results))
    op.properties["map"] = AffineMapAttr(none)


def _decide(op: Operation, *, is_last: bool) -> None:
    assert isinstance(op, kernel.ArriveOp)
    always = arith.ConstantOp.from_int_and_width(int(is_last), 1)
    insert_before(op, always)
    op.is_last.replace_all_uses_with(always.result)
    op.detach()


VALUES: Rules = {kernel.RemoteOp: (_wrong_rank,)}
"""Rules for bugs that change which values are read, but not the order of accesses."""

BLOCKS: Rules = {
    kernel.ClusterBarrierOp: (dropped, moved_down, moved_up, _barrier_of_block),
    kernel.ClusterArriveOp: (dropped, moved_up),
    kernel.ClusterWaitOp: (dropped,),
    kernel.ArriveOp: (_wrong_arrival, moved_up),
    kernel.AtomicOp: (dropped, partial(subscripts, "memref", "map")),
}
