# SPDX-License-Identifier: Apache-2.0
"""
Splits the chunks of a contraction among blocks, if its result has too few blocks to fill a GPU.

    tile.launch (%i = block 33 m, %j = block 17 n) {
      %sum = loop.reduce %ko in 128 with add {
        %chunk = loop.reduce %ki in 16 with add { ... %x[%i, %ko * 16 + %ki] ... }
        loop.yield %chunk
      }
      %0 = arith.maximumf %sum, %zero

becomes, with `split-matmul-k{factor=4 join=cluster}`,

    tile.launch (%s = block 4 split, %i = block 33 m, %j = block 17 n) {
      %sum = loop.reduce %ko in 32 with add {
        %chunk = loop.reduce %ki in 16 with add { ... %x[%i, %s * 512 + %ko * 16 + %ki] ... }
        loop.yield %chunk
      }
      %acc = tile.combine %sum across %s with add join(cluster)
      %0 = arith.maximumf %acc, %zero

Later ops use the joined result, so that any epilogue is right. If the chunks do not divide evenly,
the last block has a bound. If bounds leave out chunks, as beyond a diagonal, each block does every
n-th chunk: `%ko * 4 + %s`. Every block repeats the other reductions of the launch, such as the
statistics of a row.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import ArrayAttr, IndexType
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineExpr,
)
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Access, Role
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.index import Sum, sum_of
from tilewright.dialects.kernel_like import MAX_CLUSTER
from tilewright.dialects.tile import Join
from tilewright.dialects.tile.attributes import AxisAttr, Level
from tilewright.passes.facts.block_joins import reason_against_join, reason_not_lowered
from tilewright.passes.facts.nest import nested_chunk
from tilewright.passes.reporting.trace import Rule
from tilewright.passes.rewriting.substitution import Substitution, conjunction
from tilewright.passes.tile.contracting_reductions import (
    NO_CONTRACTION,
    contracting_reductions,
)
from tilewright.passes.tile.scheduling_decision import Questions
from tilewright.passes.tile.scheduling_pass import SchedulingPass

FACTORS = (2, 3, 4, 6, 8, 12, 16, 24, 32)
"""Numbers of blocks that are offered to share a contraction."""


@dataclass(frozen=True)
class SplitMatmulKPass(SchedulingPass, RewritePattern):
    """Split contractions among blocks that join their results."""

    name = "split-matmul-k"
    RULE: ClassVar[Rule] = Rule("t", 3, "split_matmul_k")

    factor: int | None = None
    """Number of blocks that share a contraction."""
    join: str | None = None
    """Join of these blocks: cluster, last_block, workspace or atomic."""

    def reason_against(self, launch: tile.LaunchOp) -> str | None:
        if any(axis.role is Role.SPLIT for axis in launch.bound_axes()):
            return "it is split already"
        contractions = contracting_reductions(launch)
        if not contractions:
            return NO_CONTRACTION
        if any(op.parent is not launch.body.block for op in contractions):
            return "blocks cannot join in each step of the loop around its contraction"
        if any(nested_chunk(op) is None for op in contractions):
            return "its contraction is not in chunks (chunk-matmul-k)"
        if _chunks(launch) < 2:
            return "its contraction is a single chunk"
        return None

    def questions(self, launch: tile.LaunchOp) -> Questions:
        joins = [join.value for join in Join if _reason_not_lowered(launch, 2, join) is None]
        return {"factor": [n for n in FACTORS if n <= _chunks(launch)], "join": joins}

    def reason_not_possible(self, launch: tile.LaunchOp) -> str | None:
        if self.factor is None or self.join is None:
            return f"no join of blocks is possible for this kernel on {self.target}"
        if not 2 <= self.factor <= _chunks(launch):
            return (
                f"{_chunks(launch)} chunks among {self.factor} blocks; "
                f"factor is from 2 to {_chunks(launch)}"
            )
        reason, join = self._reason_against_join(), self.join
        return reason or _reason_not_lowered(launch, self.factor, Join(join))

    @op_type_rewrite_pattern
    def match_and_rewrite(self, launch: tile.LaunchOp, rewriter: PatternRewriter) -> None:
        assert self.factor is not None
        contractions = contracting_reductions(launch)
        split = rewriter.insert_block_argument(launch.body.block, 0, IndexType())
        split.name_hint = "s"
        launch.axes = ArrayAttr([AxisAttr.get(Level.BLOCK, self.factor, Role.SPLIT), *launch.axes])
        rewriter.notify_op_modified(launch)
        for group in _joined_at_once(contractions):
            parts = [_part(op, split, self.factor) for op in group]
            values = [result for part in parts for result in part.results]
            combine = tile.CombineOp(values, [split], group[0].monoid, join=Join(self.join))
            combine.location = group[-1].location
            rewriter.insert(combine, InsertPoint.after(group[-1]))
            joined = iter(combine.results)
            for op, part in zip(group, parts, strict=True):
                results = [next(joined) for _ in op.results]
                rewriter.replace(op, part, results)
                for result in results:
                    result.name_hint = "acc"

    def _reason_against_join(self) -> str | None:
        """Reason why the target cannot join `factor` blocks this way, or None."""
        assert self.factor is not None
        return reason_against_join(self.join, self.factor, self.target)


def _chunks(launch: tile.LaunchOp) -> int:
    """Return the number of chunks of the contraction that has the most."""
    return max(op.axis_extents()[0] for op in contracting_reductions(launch))


def _reason_not_lowered(launch: tile.LaunchOp, factor: int, join: Join) -> str | None:
    """Reason why blocks cannot join this way in the lowering, or None."""
    if _joins_surely(launch, factor, join):
        return None
    return reason_not_lowered(
        launch, SplitMatmulKPass(factor=factor, join=join.value).match_and_rewrite
    )


def _joins_surely(launch: tile.LaunchOp, factor: int, join: Join) -> bool:
    """
    True if the lowering is known to accept the join. Nothing else is combined, and the blocks wait
    for each other in a cluster, or join only once and without atomics.
    """
    if any(isinstance(op, tile.CombineOp) for op in ops_in(launch)):
        return False
    if join is Join.CLUSTER:
        return factor <= MAX_CLUSTER
    return join is not Join.ATOMIC and len(_joined_at_once(contracting_reductions(launch))) == 1


def _joined_at_once(contractions: Sequence[loop.ReduceOp]) -> list[list[loop.ReduceOp]]:
    """
    Return the contractions in groups that are joined at once. They are one group if they have one
    monoid, which combines each value separately, and no result is used before the last contraction.
    Otherwise each is a group.
    """
    last = contractions[-1]
    early = [
        use.operation for op in contractions[:-1] for result in op.results for use in result.uses
    ]
    is_one_monoid = all(op.monoid == last.monoid for op in contractions)
    is_unused_before = all(_is_behind(op, last) for op in early)
    if is_one_monoid and last.monoid.data.combines_each and is_unused_before:
        return [list(contractions)]
    return [[op] for op in contractions]


def _is_behind(op: Operation, other: loop.ReduceOp) -> bool:
    """True if `op`, or the loop around it, comes after `other`."""
    assert other.parent is not None
    around = other.parent.find_ancestor_op_in_block(op)
    return around is not None and other.is_before_in_block(around)


def _part(op: loop.ReduceOp, split: SSAValue, factor: int) -> loop.ReduceOp:
    """
    Return the part of `op` that a block does: as many chunks in each block, or fewer in the last
    ones. If bounds may leave out chunks, each block does every n-th chunk, so that all have work.
    """
    (chunks,) = op.axis_extents()
    own = -(-chunks // factor)
    part = op.begun(own, op.axis.name_hint)
    number, chunk = AffineExpr.dimension(0), AffineExpr.dimension(1)
    step = chunk * factor + number if op.is_bounded else number * own + chunk
    substitution = Substitution(indices={op.axis: (step, [split, part.axis])})
    part.body.block.add_ops(substitution.clone(inner) for inner in op.body.block.ops)
    of_part = _every_nth if op.is_bounded else _adjacent
    steps = factor if op.is_bounded else own
    bounds = (op.start, op.below)
    start, below = ([of_part(bound, split, steps)] if bound else [] for bound in bounds)
    if chunks % factor:
        below.append(of_part(([AffineExpr.constant(chunks)], []), split, steps))
    part.set_bounds(conjunction(start), conjunction(below))
    return part


def _adjacent(bound: Access, split: SSAValue, own: int) -> Access:
    """
    Return `bound`, which counts all chunks of the contraction, as a bound that counts from the
    first chunk of a block; each block has `own` chunks.
    """
    exprs, operands = bound
    first = AffineExpr.dimension(len(operands)) * own
    return [expr - first for expr in exprs], [*operands, split]


def _every_nth(bound: Access, split: SSAValue, factor: int) -> Access:
    """
    Return `bound`, which counts all chunks of the contraction, as a bound that counts the chunks of
    a block, which are `factor` apart.
    """
    exprs, operands = bound
    number = AffineExpr.dimension(len(operands))
    steps = [_quotient(expr - number + (factor - 1), factor) for expr in exprs]
    return steps, [*operands, split]


def _quotient(expr: AffineExpr, divisor: int) -> AffineExpr:
    """
    Return `expr` divided by `divisor`. A quotient in a sum is divided once: (x // 16 - y) // 3 is
    (x - 16 * y) // 48, the form in which a mask gives a bound (`step_bounds.py`).
    """
    total = sum_of(expr)
    match [(atom, factor) for atom, factor in total.terms.items() if _is_quotient(atom)]:
        case [(AffineBinaryOpExpr(lhs=dividend, rhs=AffineConstantExpr(value=own)), 1)]:
            rest = {atom: n * own for atom, n in total.terms.items() if not _is_quotient(atom)}
            return (dividend + Sum(rest, total.constant * own).expr()) // (own * divisor)
        case _:
            return expr // divisor


def _is_quotient(expr: AffineExpr) -> bool:
    return isinstance(expr, AffineBinaryOpExpr) and expr.kind is AffineBinaryOpKind.FloorDiv
