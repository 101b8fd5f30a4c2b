# SPDX-License-Identifier: Apache-2.0
"""
Kernel IR: one thread's program in hardware primitives.

Thread ids, shared memory, copies, barriers and shuffles are ops of this dialect. Arithmetic uses
`arith` and `math`, control flow `scf`. Memory access uses `loop.load` and `loop.store` with their
affine subscripts and masks, and `loop.predicate` turns a mask into a value.
"""

from xdsl.ir import Dialect

from tilewright.dialects.kernel.barrier import BarrierOp, NamedBarrierOp, WarpBarrierOp
from tilewright.dialects.kernel.comment import CommentOp
from tilewright.dialects.kernel.copy import CopyAsyncOp, CopyOp
from tilewright.dialects.kernel.function import (
    BlockIdOp,
    FuncOp,
    IdOp,
    IndexOp,
    ThreadIdOp,
    function_of,
)
from tilewright.dialects.kernel.grid import (
    ArriveOp,
    AtomicOp,
    ClusterArriveOp,
    ClusterBarrierOp,
    ClusterWaitOp,
    RemoteOp,
)
from tilewright.dialects.kernel.matrix import (
    HalveTf32Op,
    LoadMatrixOp,
    MatrixMultiplyOp,
    NearestFiniteOp,
    RoundTf32Op,
)
from tilewright.dialects.kernel.registers import RegistersOp, UnrollOp
from tilewright.dialects.kernel.ring import (
    RingAcquireOp,
    RingCommitOp,
    RingOp,
    RingReleaseOp,
    RingType,
    RingWaitOp,
    TmaCopyOp,
)
from tilewright.dialects.kernel.shared import SharedOp
from tilewright.dialects.kernel.shuffle import (
    ShuffleMode,
    ShuffleModeAttr,
    ShuffleOp,
)
from tilewright.dialects.kernel.warpgroup import (
    GroupCommitOp,
    GroupFenceOp,
    GroupMultiplyOp,
    GroupWaitOp,
    ProxyFenceOp,
)

__all__ = [
    "ArriveOp",
    "AtomicOp",
    "BarrierOp",
    "BlockIdOp",
    "ClusterArriveOp",
    "ClusterBarrierOp",
    "ClusterWaitOp",
    "CommentOp",
    "CopyAsyncOp",
    "CopyOp",
    "FuncOp",
    "GroupCommitOp",
    "GroupFenceOp",
    "GroupMultiplyOp",
    "GroupWaitOp",
    "HalveTf32Op",
    "IdOp",
    "IndexOp",
    "Kernel",
    "LoadMatrixOp",
    "MatrixMultiplyOp",
    "NamedBarrierOp",
    "NearestFiniteOp",
    "ProxyFenceOp",
    "RegistersOp",
    "RemoteOp",
    "RingAcquireOp",
    "RingCommitOp",
    "RingOp",
    "RingReleaseOp",
    "RingType",
    "RingWaitOp",
    "RoundTf32Op",
    "SharedOp",
    "ShuffleMode",
    "ShuffleModeAttr",
    "ShuffleOp",
    "ThreadIdOp",
    "TmaCopyOp",
    "UnrollOp",
    "WarpBarrierOp",
    "function_of",
]

Kernel = Dialect(
    "kernel",
    [
        FuncOp,
        BlockIdOp,
        ThreadIdOp,
        IndexOp,
        SharedOp,
        RegistersOp,
        UnrollOp,
        CopyOp,
        CopyAsyncOp,
        TmaCopyOp,
        LoadMatrixOp,
        MatrixMultiplyOp,
        RoundTf32Op,
        HalveTf32Op,
        NearestFiniteOp,
        GroupFenceOp,
        GroupMultiplyOp,
        GroupCommitOp,
        GroupWaitOp,
        ProxyFenceOp,
        RingOp,
        RingAcquireOp,
        RingCommitOp,
        RingWaitOp,
        RingReleaseOp,
        BarrierOp,
        WarpBarrierOp,
        NamedBarrierOp,
        ShuffleOp,
        ClusterBarrierOp,
        ClusterArriveOp,
        ClusterWaitOp,
        RemoteOp,
        ArriveOp,
        AtomicOp,
        CommentOp,
    ],
    [ShuffleModeAttr, RingType],
)
