# SPDX-License-Identifier: Apache-2.0
"""Which loops are unrolled, or will be at first guess (`mark-unroll`)."""

from tilewright.dialects import loop, tile

USUAL_LIMIT = 16
"""Steps up to which a loop is unrolled at first guess."""


def will_be_unrolled(op: loop.ReduceOp) -> bool:
    """Whether a loop of several steps, in which threads do not meet, is or will be unrolled."""
    if op.bound is not None or any(isinstance(i, tile.StageOp | tile.CombineOp) for i in op.walk()):
        return False
    (steps,) = op.axis_extents()
    return steps > 1 and (op.is_unrolled or steps <= USUAL_LIMIT)
