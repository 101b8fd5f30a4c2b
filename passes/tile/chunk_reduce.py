# SPDX-License-Identifier: Apache-2.0
"""
Splits long reductions that are not contractions into chunks. The data of a chunk fits on chip, and
its loads are in flight together.

    %p = loop.reduce %k in 49 with add {
      %0 = loop.load %x[%row, %k * 1024 + %t] where [50256 - %k * 1024 - %t] ...
      loop.yield %0
    }

becomes, with `chunk-reduce{chunk=8}`,

    %p = loop.reduce %ko in 7 with add {
      %chunk = loop.reduce %ki in 8 with add {
        %0 = loop.load %x[%row, %ko * 8192 + %ki * 1024 + %t] where [50256 - ...] ...
        loop.yield %0
      }
      loop.yield %chunk
    }

The last chunk may be partial: its yield is masked beyond the last step, unless a sum adds zeros
there. A bound leaves out the chunks in which a mask lets no thread contribute, as for rows of a
cache that are not filled yet.
"""

from dataclasses import dataclass
from typing import ClassVar

from xdsl.pattern_rewriter import RewritePattern

from tilewright.dialects import loop, tile
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.passes.facts.nest import nested_chunk
from tilewright.passes.reporting.trace import Rule
from tilewright.passes.tile.chunking import ChunkReductions
from tilewright.passes.tile.contracting_reductions import contracting_reductions
from tilewright.passes.tile.row_facts import LONG
from tilewright.passes.tile.scheduling_decision import Questions
from tilewright.passes.tile.scheduling_pass import SchedulingPass
from tilewright.passes.tile.step_bounds import leaves_out_steps

_CHUNKS = (4, 8, 16, 32)
_BOUNDED = (4, 8, 16, 32, 64)


@dataclass(frozen=True)
class ChunkReducePass(SchedulingPass):
    """Split long reductions into chunks."""

    name = "chunk-reduce"
    RULE: ClassVar[Rule] = Rule("t", 6, "chunk_reduce")

    chunk: int | None = None
    """Number of steps of a chunk."""
    bounded: int | None = None
    """
    Number of steps of a chunk of a reduction whose mask may leave whole chunks out; by default
    `chunk`.
    """

    def reason_against(self, launch: tile.LaunchOp) -> str | None:
        """Reason why the launch has no long reduction to split into chunks, or None."""
        if long_reductions(launch):
            return None
        return f"no reduction of {LONG} steps or more, apart from contractions and chunks"

    def questions(self, launch: tile.LaunchOp) -> Questions:
        longest = max(op.axis_extents()[0] for op in long_reductions(launch))
        return {
            "chunk": [chunk for chunk in _CHUNKS if chunk < longest],
            "bounded": [None, *(chunk for chunk in _BOUNDED if chunk < longest)],
        }

    def reason_not_possible(self, launch: tile.LaunchOp) -> str | None:
        """Reason why a chunk cannot have `chunk` or `bounded` steps, or None."""
        assert self.chunk is not None
        bounded = self.chunk if self.bounded is None else self.bounded
        longest = max(op.axis_extents()[0] for op in long_reductions(launch))
        for chunk in (self.chunk, bounded):
            if not 2 <= chunk < longest:
                return f"chunks of {chunk} for {longest} steps; a chunk has 2 to {longest - 1}"
        return None

    def pattern(self, launch: tile.LaunchOp) -> RewritePattern:
        """Return the pattern that splits each reduction that is longer than its chunk."""
        assert self.chunk is not None
        bounded = self.chunk if self.bounded is None else self.bounded
        reductions = long_reductions(launch)
        lengths = {op: bounded if leaves_out_steps(op) else self.chunk for op in reductions}
        return ChunkReductions({op: n for op, n in lengths.items() if op.axis_extents()[0] > n})


def long_reductions(launch: tile.LaunchOp) -> list[loop.ReduceOp]:
    """
    Return the reductions of at least `LONG` steps that contain no other reduction. Contractions,
    and chunks of other reductions, are not among them.
    """
    contracting = contracting_reductions(launch)
    reductions = [op for op in ops_in(launch) if isinstance(op, loop.ReduceOp)]
    chunks = {nested_chunk(op) for op in reductions}
    return [
        op
        for op in reductions
        if op.axis_extents()[0] >= LONG
        and op not in contracting
        and op not in chunks
        and nested_chunk(op) is None
        and not any(isinstance(inner, loop.ReduceOp) for inner in op.body.walk())
    ]
