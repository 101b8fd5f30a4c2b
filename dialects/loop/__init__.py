# SPDX-License-Identifier: Apache-2.0
"""
Loop IR: one kernel is one loop nest over memrefs.

`loop.for` axes are free (every step is independent), `loop.reduce` folds an axis with a monoid,
`loop.scan` runs along an axis in order. Subscripts are affine expressions of axes, and of indices
that `loop.to_index` makes from data. A mask prints as `where [expr, ...]` and is true where every
expression is at least 0. Tile and Kernel IR use the same bodies.

The ops of each kind are in one module, and all of them can be imported from here.
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
"""Ops that run their body once for each step of their axes."""

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
    """True if `op` only computes values: it has no region and does not store."""
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
