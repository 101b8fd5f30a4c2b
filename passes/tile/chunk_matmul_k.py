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

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Region
from xdsl.ir.affine import AffineExpr
from xdsl.pattern_rewriter import PatternRewriter

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Access
from tilewright.dialects.monoid import Monoid
from tilewright.passes.kernel.chunks import nested_chunk
from tilewright.passes.loop.simplify_accesses import simplify_accesses
from tilewright.passes.substitution import Substitution, conjunction
from tilewright.passes.tile.annihilation import vanishes_beyond
from tilewright.passes.tile.contracting_reductions import contracting_reductions
from tilewright.passes.tile.rebind import power_of_two
from tilewright.passes.tile.scheduling_pass import SchedulingPass
from tilewright.passes.tile.step_bounds import leave_out_masked_steps
from tilewright.passes.trace import Rule

_CHUNKS = (16, 32, 8, 64)
"""Lengths of a chunk, the best guess first."""

_OUTER, _INNER = AffineExpr.dimension(0), AffineExpr.dimension(1)


@dataclass(frozen=True)
class ChunkMatmulKPass(SchedulingPass):
    """Do contractions in chunks."""

    name = "chunk-matmul-k"

    RULE: ClassVar[Rule] = Rule("t", 2, "chunk_matmul_k")

    bk: int | None = None
    """Steps of a chunk."""

    def legal(self, launch: tile.LaunchOp) -> str | None:
        """It has a contraction that is not in chunks yet."""
        if not contracting_reductions(launch):
            return "no contraction: no loads of which one varies with m and another with n"
        if not _unchunked(launch):
            return "its contractions are in chunks already"
        return None

    def choices(self, launch: tile.LaunchOp) -> Sequence["ChunkMatmulKPass"]:
        """Chunks that are hardly longer than K."""
        longest = power_of_two(_steps(launch))
        fitting = [bk for bk in _CHUNKS if bk <= longest] or [longest]
        return [ChunkMatmulKPass(self.target, bk) for bk in fitting]

    def impossible(self, launch: tile.LaunchOp) -> str | None:
        """A chunk has a step, and is not much longer than K."""
        assert self.bk is not None
        longest = power_of_two(_steps(launch))
        if 1 <= self.bk <= longest:
            return None
        return f"chunks of {self.bk} for a K of {_steps(launch)}; bk is from 1 to {longest}"

    def rewrite(self, launch: tile.LaunchOp, rewriter: PatternRewriter) -> None:
        """Chunk each contraction."""
        assert self.bk is not None
        for op in _unchunked(launch):
            whole = _chunked(op, self.bk)
            rewriter.replace(op, whole)
            leave_out_masked_steps(whole)
        simplify_accesses(launch)


def _unchunked(launch: tile.LaunchOp) -> list[loop.ReduceOp]:
    return [op for op in contracting_reductions(launch) if nested_chunk(op) is None]


def _steps(launch: tile.LaunchOp) -> int:
    """K, the longest if there are several."""
    return max(op.axis_extents()[0] for op in _unchunked(launch))


def _chunked(op: loop.ReduceOp, bk: int) -> loop.ReduceOp:
    """What does the same as `op` in chunks of `bk` steps."""
    (steps,) = op.axis_extents()
    outer, inner = Block(arg_types=[IndexType()]), Block(arg_types=[IndexType()])
    outer.args[0].name_hint, inner.args[0].name_hint = "ko", "ki"
    axes = [outer.args[0], inner.args[0]]
    step = _OUTER * bk + _INNER
    substitution = Substitution(indices={op.axis: (step, axes)})
    bounds: list[Access] = []
    if steps % bk:
        substitution.bounds[op.axis] = [step * -1 + (steps - 1)], axes
        bounds.append(substitution.bounds[op.axis])
    inner.add_ops(substitution.clone(i) for i in op.body.block.ops if i is not op.yield_op)
    inner.add_op(_yielded(op, substitution, bounds))
    chunk = loop.ReduceOp(bk, op.monoid, Region(inner), unroll=op.is_unrolled)
    outer.add_ops([chunk, loop.YieldOp(chunk.results)])
    whole = loop.ReduceOp(-(-steps // bk), op.monoid, Region(outer))
    for result, part, new in zip(op.results, chunk.results, whole.results, strict=True):
        part.name_hint, new.name_hint = "chunk", result.name_hint
    chunk.location = whole.location = op.location
    return whole


def _yielded(
    op: loop.ReduceOp, substitution: Substitution, bounds: Sequence[Access]
) -> loop.YieldOp:
    """What a step yields, masked beyond `bounds` unless it is zero there and that does no harm."""
    terminator = op.yield_op
    values = [substitution.value(value) for value in terminator.values]
    own = substitution.mask(terminator)
    masks = [] if own is None else [own]
    for bound in bounds:
        is_zero = all(vanishes_beyond(value, bound) for value in values)
        if op.monoid.data is not Monoid.ADD or not is_zero:
            masks.append(bound)
    if op.below is not None:
        masks.append(_within(op, substitution))
    new = loop.YieldOp(values, conjunction(masks))
    new.location = terminator.location
    return new


def _within(op: loop.ReduceOp, substitution: Substitution) -> Access:
    """Where a step is below what bounds `op`."""
    assert op.below is not None
    exprs, operands = op.below
    step = AffineExpr.dimension(len(operands))
    return substitution.access([e - 1 - step for e in exprs], [*operands, op.axis])
