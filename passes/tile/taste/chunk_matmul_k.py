# SPDX-License-Identifier: Apache-2.0
"""Heuristics (taste) of `chunk-matmul-k`: chunks of 16 steps, then of 32, 8 and 64."""

from collections.abc import Sequence
from dataclasses import replace

from tilewright.dialects import tile
from tilewright.passes.tile.chunk_matmul_k import ChunkMatmulKPass

_BEST_FIRST = (16, 32, 8, 64)


def prefer(step: ChunkMatmulKPass, launch: tile.LaunchOp) -> Sequence[ChunkMatmulKPass]:
    """Return the pass with each possible length of a chunk, the best guess first."""
    lengths = step.questions(launch)["bk"]
    return [replace(step, bk=bk) for bk in _BEST_FIRST if bk in lengths]
