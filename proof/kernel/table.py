# SPDX-License-Identifier: Apache-2.0
"""
Table of obligations: one function for each op of Kernel IR that has any.
"""

from collections.abc import Iterator

from xdsl.dialects import scf
from xdsl.ir import Operation

from tilewright.dialects.kernel import (
    ArriveOp,
    AtomicOp,
    BarrierOp,
    ClusterArriveOp,
    ClusterBarrierOp,
    ClusterWaitOp,
    CommentOp,
    CopyAsyncOp,
    CopyOp,
    FuncOp,
    GroupCommitOp,
    GroupFenceOp,
    GroupMultiplyOp,
    GroupWaitOp,
    IndexOp,
    LoadMatrixOp,
    MatrixMultiplyOp,
    NamedBarrierOp,
    ProxyFenceOp,
    RegistersOp,
    RemoteOp,
    RingAcquireOp,
    RingCommitOp,
    RingOp,
    RingReleaseOp,
    RingWaitOp,
    SharedOp,
    ShuffleOp,
    TmaCopyOp,
    UnrollOp,
    WarpBarrierOp,
)
from tilewright.dialects.kernel.ring import FillOp
from tilewright.dialects.loop import LoadOp, PredicateOp, StoreOp
from tilewright.proof.answer import Obligation
from tilewright.proof.by_op import Table, obligations_by
from tilewright.proof.kernel.accesses import (
    access_obligations,
    box_obligations,
    index_obligations,
    loop_obligations,
)
from tilewright.proof.kernel.multiplications import multiply_obligations
from tilewright.proof.kernel.races import race_obligations
from tilewright.proof.kernel.reached import arrival_obligations, reached_obligations
from tilewright.proof.kernel.rings import fill_obligations
from tilewright.proof.kernel.slots import slot_obligations


def _none(op: Operation) -> Iterator[Obligation]:
    """Yield nothing: the obligations of the op are those of other ops."""
    yield from ()


def _function(op: FuncOp) -> Iterator[Obligation]:
    yield from race_obligations(op)
    yield from slot_obligations(op)


def _fill(op: FillOp) -> Iterator[Obligation]:
    yield from reached_obligations(op)
    yield from fill_obligations(op)


def _reached_access(op: Operation) -> Iterator[Obligation]:
    yield from access_obligations(op)
    yield from reached_obligations(op)


OBLIGATIONS: Table = {
    FuncOp: _function,
    scf.ForOp: loop_obligations,
    scf.IfOp: _none,
    scf.YieldOp: _none,
    UnrollOp: _none,
    IndexOp: index_obligations,
    PredicateOp: index_obligations,
    LoadOp: access_obligations,
    StoreOp: access_obligations,
    AtomicOp: access_obligations,
    CopyOp: access_obligations,
    CopyAsyncOp: access_obligations,
    LoadMatrixOp: _reached_access,
    MatrixMultiplyOp: _reached_access,
    GroupMultiplyOp: multiply_obligations,
    GroupFenceOp: reached_obligations,
    GroupCommitOp: reached_obligations,
    GroupWaitOp: reached_obligations,
    ProxyFenceOp: _none,
    ArriveOp: _reached_access,
    TmaCopyOp: box_obligations,
    SharedOp: _none,
    RegistersOp: _none,
    RemoteOp: _none,
    RingOp: _none,
    RingAcquireOp: _fill,
    RingCommitOp: _fill,
    RingWaitOp: _fill,
    RingReleaseOp: _fill,
    BarrierOp: reached_obligations,
    WarpBarrierOp: reached_obligations,
    NamedBarrierOp: reached_obligations,
    ClusterBarrierOp: reached_obligations,
    ClusterArriveOp: reached_obligations,
    ClusterWaitOp: arrival_obligations,
    ShuffleOp: reached_obligations,
    CommentOp: _none,
}


def obligations_of(op: Operation) -> Iterator[Obligation]:
    """Yield the obligations of an op; raises `NotCoveredError` if there are others, not in here."""
    yield from obligations_by(OBLIGATIONS, op)
