# SPDX-License-Identifier: Apache-2.0
"""
Heuristics (taste) of `chunk-reduce`: chunks of eight steps, since eight loads hide most of memory's
latency. Sums whose chunks may be left out get long chunks first. Loads of the next chunk cannot be
in flight yet there, so a chunk needs more loads of its own.
"""

from collections.abc import Sequence
from itertools import product

from tilewright.dialects import tile
from tilewright.passes.tile.chunk_reduce import ChunkReducePass, long_reductions
from tilewright.passes.tile.step_bounds import leaves_out_steps

_CHUNKS = (8, 4, 16, 32)
_LONGER = (64, 32, 16)

_PARTS = 8
"""
Fewest chunks of a sum with long chunks that may be left out; with fewer, hardly any are left out.
"""


def prefer(step: ChunkReducePass, launch: tile.LaunchOp) -> Sequence[ChunkReducePass]:
    """
    Return a few lengths, the best guess first; long ones first for reductions that may leave out
    chunks.
    """
    steps = [op.axis_extents()[0] for op in long_reductions(launch) if leaves_out_steps(op)]
    most = max(steps, default=0) // _PARTS
    longer = [length for length in _LONGER if length <= most]
    lengths = dict.fromkeys([*longer, *_CHUNKS] if longer else [None])
    found = [
        ChunkReducePass(step.target, chunk=chunk, bounded=bounded)
        for bounded, chunk in product(lengths, _CHUNKS)
    ]
    return [choice for choice in found if choice.reason_not_possible(launch) is None]
