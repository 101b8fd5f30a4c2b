# SPDX-License-Identifier: Apache-2.0
"""
Loop IR: one kernel is one loop nest over memrefs.

`loop.for` axes are free (every step is independent), `loop.reduce` folds an axis with a monoid,
`loop.scan` goes along an axis in order. Subscripts are affine expressions of axes, and of indices
that `loop.to_index` makes of data; a mask is visible as `where [expr, ...]` and holds where every
expression is at least 0. Tile and Kernel IR use the same bodies.

The ops stand in one module for each kind, and all of them can be had from here.
"""

from xdsl.dialects.arith import ArithConstantMaterializationInterface
from xdsl.ir import Dialect, Operation

from tilewright.dialects.axes import RoleAttr
from tilewright.dialects.loop.fusion import FusionAttr
from tilewright.dialects.loop.kernel import KernelOp, LaunchOp
from tilewright.dialects.loop.memory import LoadOp, StoreOp
from tilewright.dialects.loop.nest import ForOp, ReduceOp, YieldOp
from tilewright.dialects.loop.scan import PrefixOp, ScanOp
from tilewright.dialects.loop.values import IndexOp, PredicateOp, ToIndexOp
from tilewright.dialects.schedule import ScheduleAttr

AnyLoop = ForOp | ReduceOp | ScanOp
"""What does its body once for each step of its axes."""

__all__ = [
    "AnyLoop",
    "ForOp",
    "FusionAttr",
    "IndexOp",
    "KernelOp",
    "LaunchOp",
    "LoadOp",
    "Loop",
    "PredicateOp",
    "PrefixOp",
    "ReduceOp",
    "ScanOp",
    "StoreOp",
    "ToIndexOp",
    "YieldOp",
    "is_scalar",
]


def is_scalar(op: Operation) -> bool:
    """True if `op` computes values by itself: it neither loops nor stores."""
    return not op.regions and not isinstance(op, StoreOp)


Loop = Dialect(
    "loop",
    [
        KernelOp,
        LaunchOp,
        ForOp,
        ReduceOp,
        ScanOp,
        YieldOp,
        PrefixOp,
        LoadOp,
        StoreOp,
        IndexOp,
        PredicateOp,
        ToIndexOp,
    ],
    [RoleAttr, FusionAttr, ScheduleAttr],
    [ArithConstantMaterializationInterface()],
)
