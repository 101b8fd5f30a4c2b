# SPDX-License-Identifier: Apache-2.0
"""
Table of obligations: one function for each op of Tile IR that has any.
"""

from collections.abc import Iterator

from xdsl.ir import Operation

from tilewright.dialects.loop import ForOp, KernelOp, LoadOp, PrefixOp, ReduceOp, ScanOp, StoreOp
from tilewright.dialects.tile import LaunchOp, ShareOp, StageOp, Transport
from tilewright.proof.accesses import access_obligations
from tilewright.proof.answer import Obligation
from tilewright.proof.boxes import box_obligations
from tilewright.proof.by_op import Table, obligations_by
from tilewright.proof.complete import complete_output, complete_share
from tilewright.proof.distinct import distinct_shares, distinct_stores
from tilewright.proof.fragments import fragment_obligations
from tilewright.proof.slabs import ring_obligations, slab_obligations


def _none(op: Operation) -> Iterator[Obligation]:
    """Yield nothing: the op only repeats its body."""
    yield from ()


def _kernel(op: KernelOp) -> Iterator[Obligation]:
    """Yield that each element of each output is stored, and by one step."""
    (launch,) = [inner for inner in op.body.block.ops if isinstance(inner, LaunchOp)]
    for output in op.outputs:
        stores = [use.operation for use in output.uses if isinstance(use.operation, StoreOp)]
        yield from distinct_stores(stores, launch)
        if not op.is_updated(output):
            yield complete_output(op, output, stores)


def _reduce(op: ReduceOp) -> Iterator[Obligation]:
    if op.instruction is not None:
        yield from fragment_obligations(op, op.instruction)


def _stage(op: StageOp) -> Iterator[Obligation]:
    yield from slab_obligations(op)
    yield from ring_obligations(op)
    if op.transport_kind is Transport.TMA:
        yield from box_obligations(op)


def _share(op: ShareOp) -> Iterator[Obligation]:
    yield from slab_obligations(op)
    yield distinct_shares(op)
    yield complete_share(op)


OBLIGATIONS: Table = {
    KernelOp: _kernel,
    LaunchOp: _none,
    ForOp: _none,
    ScanOp: _none,
    PrefixOp: _none,
    ReduceOp: _reduce,
    LoadOp: access_obligations,
    StoreOp: access_obligations,
    StageOp: _stage,
    ShareOp: _share,
}


def obligations_of(op: Operation) -> Iterator[Obligation]:
    """Yield the obligations of an op; raises `NotCoveredError` if there are others, not in here."""
    yield from obligations_by(OBLIGATIONS, op)
