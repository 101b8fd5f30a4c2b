# SPDX-License-Identifier: Apache-2.0
"""
Splits the steps of a contraction into chunks, the unit of staging and pipelining.

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

The last chunk may be partial. Loads beyond K are zero. A sum needs no mask there if its terms are
proved to be zero; otherwise the yield is masked. A bound leaves out the chunks in which a mask lets
no thread contribute, as beyond a causal diagonal.

Products inside of a contraction, such as the scores of attention, are split only if they have more
steps than a `slice`: a block then stages slices of long queries and keys. With `depth`, the number
of steps of the others is rounded up: matrix instructions do several steps at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.pattern_rewriter import RewritePattern

from tilewright.dialects import loop, tile
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.passes.facts.nest import nested_chunk
from tilewright.passes.facts.products import products_of
from tilewright.passes.reporting.trace import Rule
from tilewright.passes.tile.chunking import ChunkReductions
from tilewright.passes.tile.contracting_reductions import NO_CONTRACTION, contracting_reductions
from tilewright.passes.tile.rebind import next_power_of_two
from tilewright.passes.tile.scheduling_decision import Questions
from tilewright.passes.tile.scheduling_pass import SchedulingPass

_CHUNKS = (8, 16, 32, 64)
"""Lengths of chunks that are offered, in steps."""


@dataclass(frozen=True)
class ChunkMatmulKPass(SchedulingPass):
    """Split contractions into chunks."""

    name = "chunk-matmul-k"

    RULE: ClassVar[Rule] = Rule("t", 2, "chunk_matmul_k")

    bk: int | None = None
    """Number of steps of K in a chunk."""
    depth: int = 1
    """Number whose multiples are the steps of products inside of a contraction."""
    slice: int | None = None
    """Number of steps in a chunk of products inside of a contraction; by default all of them."""

    def reason_against(self, launch: tile.LaunchOp) -> str | None:
        """Reason why the launch has no contraction to split into chunks, or None."""
        if not contracting_reductions(launch):
            return NO_CONTRACTION
        if not _unchunked(launch):
            return "its contractions are in chunks already"
        return None

    def questions(self, launch: tile.LaunchOp) -> Questions:
        """Return the values of `bk` that are offered, up to K rounded up to a power of two."""
        return {"bk": [bk for bk in _CHUNKS if bk <= _longest(launch)]}

    def reason_not_possible(self, launch: tile.LaunchOp) -> str | None:
        """
        Reason why a chunk cannot have `bk` steps, or None. A chunk may be longer than K, up to the
        next power of two.
        """
        assert self.bk is not None
        if self.depth < 1:
            return f"depth is at least 1, not {self.depth}"
        if self.slice is not None and self.slice < 1:
            return f"a slice has at least 1 step, not {self.slice}"
        if self.slice is not None and not _products_inside(_unchunked(launch)):
            return "its contractions have no products inside that could be sliced"
        if 1 <= self.bk <= _longest(launch):
            return None
        return f"chunks of {self.bk} for a K of {_steps(launch)}; bk is 1 to {_longest(launch)}"

    def pattern(self, launch: tile.LaunchOp) -> RewritePattern:
        """Return the pattern that splits each contraction into chunks."""
        assert self.bk is not None
        wholes = _unchunked(launch)
        lengths, steps = dict.fromkeys(wholes, self.bk), _products_inside(wholes)
        slices = {op: self.slice for op, n in steps.items() if self.slice and n > self.slice}
        rounded = {op: -(-n // self.depth) * self.depth for op, n in steps.items()}
        more = {op: n for op, n in rounded.items() if n != steps[op] and op not in slices}
        return ChunkReductions(lengths, more, slices)


def _products_inside(wholes: Sequence[loop.ReduceOp]) -> dict[loop.ReduceOp, int]:
    """Return the sums of products inside of `wholes`, with their numbers of steps."""
    inside = (op for whole in wholes for op in ops_in(whole) if op is not whole)
    sums = (op for op in inside if isinstance(op, loop.ReduceOp) and products_of(op))
    return {op: op.axis_extents()[0] for op in sums}


def _unchunked(launch: tile.LaunchOp) -> list[loop.ReduceOp]:
    return [op for op in contracting_reductions(launch) if nested_chunk(op) is None]


def _steps(launch: tile.LaunchOp) -> int:
    """Return K, the number of steps of the contraction; the largest if the launch has several."""
    return max(op.axis_extents()[0] for op in _unchunked(launch))


def _longest(launch: tile.LaunchOp) -> int:
    """Return the most steps of a chunk: K rounded up to a power of two, at least 8."""
    return max(next_power_of_two(_steps(launch)), min(_CHUNKS))
