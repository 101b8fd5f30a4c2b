# SPDX-License-Identifier: Apache-2.0
"""
Does a contraction in chunks of its steps, which is what stages and pipelines work on.

    tile.launch (%i = block 33 m, %j = block 17 n) {
      %sum = loop.reduce %k in 65 with add {
        %0 = loop.load %x[%i, %k]
        %1 = loop.load %w[%k, %j]
        %2 = arith.mulf %0, %1
        loop.yield %2
      }

becomes, with `chunk-matmul-k{bk=16}`,

    tile.launch (%i = block 33 m, %j = block 17 n) {
      %sum = loop.reduce %ko in 5 with add {
        %chunk = loop.reduce %ki in 16 with add {
          %0 = loop.load %x[%i, %ko * 16 + %ki] where [64 - %ko * 16 - %ki]
          %1 = loop.load %w[%ko * 16 + %ki, %j] where [64 - %ko * 16 - %ki]
          %2 = arith.mulf %0, %1
          loop.yield %2
        }
        loop.yield %chunk
      }

The last chunk need not be full. What is loaded beyond K is zero; where the product of such zeros
is proved to be zero a sum takes it in, and anything else that is yielded there is masked. Chunks of
which a mask lets nobody join anything, as those beyond a causal diagonal, are left out by a bound.
"""

from dataclasses import dataclass
from typing import ClassVar

from xdsl.pattern_rewriter import RewritePattern

from tilewright.dialects import loop, tile
from tilewright.passes.facts.nest import nested_chunk
from tilewright.passes.reporting.trace import Rule
from tilewright.passes.tile.chunking import ChunkReductions
from tilewright.passes.tile.contracting_reductions import NO_CONTRACTION, contracting_reductions
from tilewright.passes.tile.rebind import power_of_two
from tilewright.passes.tile.scheduling_decision import Questions
from tilewright.passes.tile.scheduling_pass import SchedulingPass

_CHUNKS = (8, 16, 32, 64)
"""Steps of a chunk."""


@dataclass(frozen=True)
class ChunkMatmulKPass(SchedulingPass):
    """Do contractions in chunks."""

    name = "chunk-matmul-k"

    RULE: ClassVar[Rule] = Rule("t", 2, "chunk_matmul_k")

    bk: int | None = None
    """Steps of a chunk."""

    def reason_against(self, launch: tile.LaunchOp) -> str | None:
        """Reason why the launch has no contraction left to chunk, or None."""
        if not contracting_reductions(launch):
            return NO_CONTRACTION
        if not _unchunked(launch):
            return "its contractions are in chunks already"
        return None

    def questions(self, launch: tile.LaunchOp) -> Questions:
        """Chunks that are hardly longer than K."""
        return {"bk": [bk for bk in _CHUNKS if bk <= _longest(launch)]}

    def reason_not_possible(self, launch: tile.LaunchOp) -> str | None:
        """Reason why no chunk can have `bk` steps, or None; K may be a little shorter."""
        assert self.bk is not None
        if 1 <= self.bk <= _longest(launch):
            return None
        return f"chunks of {self.bk} for a K of {_steps(launch)}; bk is 1 to {_longest(launch)}"

    def pattern(self, launch: tile.LaunchOp) -> RewritePattern:
        """Chunk each contraction."""
        assert self.bk is not None
        return ChunkReductions(dict.fromkeys(_unchunked(launch), self.bk))


def _unchunked(launch: tile.LaunchOp) -> list[loop.ReduceOp]:
    return [op for op in contracting_reductions(launch) if nested_chunk(op) is None]


def _steps(launch: tile.LaunchOp) -> int:
    """K, the longest if there are several."""
    return max(op.axis_extents()[0] for op in _unchunked(launch))


def _longest(launch: tile.LaunchOp) -> int:
    """Return the most steps of a chunk: hardly more than there are."""
    return max(power_of_two(_steps(launch)), min(_CHUNKS))
