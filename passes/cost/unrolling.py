# SPDX-License-Identifier: Apache-2.0
"""Which loops are unrolled, or will be at first guess (`mark-unroll`)."""

from tilewright.dialects import loop, tile
from tilewright.dialects.faster_xdsl.walk import ops_in

USUAL_LIMIT = 16
"""Steps up to which a loop is unrolled at first guess."""


def will_be_unrolled(op: loop.ReduceOp) -> bool:
    """Whether a loop of several steps, in which threads do not meet, is or will be unrolled."""
    meetings = [inner for inner in ops_in(op) if isinstance(inner, tile.StageOp | tile.CombineOp)]
    if op.is_bounded or meetings:
        return False
    (steps,) = op.axis_extents()
    return steps > 1 and (op.is_unrolled or steps <= USUAL_LIMIT)
