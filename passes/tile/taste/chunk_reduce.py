# SPDX-License-Identifier: Apache-2.0
"""
Taste in `chunk-reduce`: eight loads hide most of memory's latency. Where chunks may be left out of
a sum, long ones first: of the next chunk nothing can be under way, so that it takes more loads.
"""

from collections.abc import Sequence
from itertools import product

from tilewright.dialects import tile
from tilewright.passes.tile.chunk_reduce import ChunkReducePass, long_reductions
from tilewright.passes.tile.step_bounds import leaves_out_steps

_CHUNKS = (8, 4, 16, 32)
_LONGER = (64, 32, 16)

_PARTS = 8
"""Chunks that a sum of which chunks are left out has at least, for most of these to be left out."""


def prefer(step: ChunkReducePass, launch: tile.LaunchOp) -> Sequence[ChunkReducePass]:
    """Return a few lengths, long ones first where chunks may be left out."""
    steps = [op.axis_extents()[0] for op in long_reductions(launch) if leaves_out_steps(op)]
    most = max(steps, default=0) // _PARTS
    longer = [length for length in _LONGER if length <= most]
    lengths = dict.fromkeys([*longer, *_CHUNKS] if longer else [None])
    found = [
        ChunkReducePass(step.target, chunk=chunk, bounded=bounded)
        for bounded, chunk in product(lengths, _CHUNKS)
    ]
    return [choice for choice in found if choice.reason_not_possible(launch) is None]
