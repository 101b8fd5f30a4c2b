# SPDX-License-Identifier: Apache-2.0
"""
How threads of a block join values along some of their axes: what lies side by side in a warp by
shuffles, anything else through shared memory. Blocks join in ways of their own (`tile.Join`).
"""

from collections.abc import Sequence
from enum import Enum, auto
from math import prod

from xdsl.ir import SSAValue

from tilewright.dialects.target import WARP_SIZE
from tilewright.dialects.tile.attributes import Axis


class ThreadJoin(Enum):
    """How threads join their values."""

    NONE = auto()
    """Each has its own already."""
    SHUFFLE = auto()
    """Within segments of a warp."""
    WARPS = auto()
    """Within warps, then one slot of shared memory for each warp."""
    SHARED = auto()
    """One slot of shared memory for each thread."""


def join_across(axes: Sequence[Axis], across: Sequence[SSAValue]) -> ThreadJoin:
    """How threads along `axes`, the last fastest, join across those of them in `across`."""
    joined = [axis.value in across for axis in axes]
    threads = prod(axis.extent for axis in axes)
    width = prod(a.extent for a, j in zip(axes, joined, strict=True) if j)
    if width == 1:
        return ThreadJoin.NONE
    is_fastest = joined == sorted(joined)
    if not is_fastest or threads % WARP_SIZE:
        return ThreadJoin.SHARED
    if width <= WARP_SIZE and width & (width - 1) == 0:
        return ThreadJoin.SHUFFLE
    return ThreadJoin.WARPS if width % WARP_SIZE == 0 else ThreadJoin.SHARED
