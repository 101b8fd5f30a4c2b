# SPDX-License-Identifier: Apache-2.0
"""
Bounds that leave out all steps of a contraction in blocks whose results are not used.

    %sum = loop.reduce %ko in 4 with add { ... }
    %1 = loop.predicate [%bm * 32 + %tm - %bn * 32 - %tn] : i1
    %2 = arith.select %1, %sum, %minus_infinity : f32

gets `below [%bm * 4 - %bn * 4 + 4]`. The bound is at least 4 for blocks on the diagonal or below,
which do all of their steps. The bound is 0 or less for blocks above the diagonal, which do none.
"""

from collections.abc import Callable
from math import gcd

from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.pattern_rewriter import PatternRewriter

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import range_of_value
from tilewright.dialects.index import Ranges, Sum, sum_of
from tilewright.passes.facts.extremes import extreme
from tilewright.passes.facts.nest import nested_chunk
from tilewright.passes.rewriting.substitution import conjunction
from tilewright.passes.tile.contracting_reductions import contracting_reductions
from tilewright.passes.tile.needed_where import needed_where
from tilewright.passes.tile.step_bounds import set_bounds
from tilewright.passes.tile.uniform_indices import varies_in_block


def leave_out_unneeded_steps(launch: tile.LaunchOp, rewriter: PatternRewriter) -> None:
    """
    Bound the contractions of a launch that is split into blocks: a block does no chunk if none of
    its results is used.
    """
    for op in contracting_reductions(launch):
        needed = needed_where(op.results)
        if needed is None or op.parent is not launch.body.block or nested_chunk(op) is None:
            continue
        exprs, operands = needed
        ranges = [range_of_value(value) for value in operands]
        varies = _varies_or_follows(op)
        last = [extreme(expr, operands, varies, is_last=True) for expr in exprs]
        conditions = [_reduced(expr, ranges) for expr in last if expr is not None]
        # The bound is the extent or more where a condition holds, and 0 or less elsewhere.
        extent = op.axis_extents()[0]
        bounds = [(expr + 1) * extent for expr in conditions]
        set_bounds(op, rewriter, op.start, conjunction([op.below, (bounds, operands)]))


def _varies_or_follows(op: loop.ReduceOp) -> Callable[[SSAValue], bool]:
    """
    Return a predicate for the indices that cannot bound `op`: they vary in a block or come after
    it.
    """

    def varies(index: SSAValue) -> bool:
        return varies_in_block(index) or _follows(index, op)

    return varies


def _follows(index: SSAValue, op: Operation) -> bool:
    made_by = index.owner
    return isinstance(made_by, Operation) and op.is_before_in_block(made_by)


def _reduced(expr: AffineExpr, ranges: Ranges) -> AffineExpr:
    """
    Return the smallest expression that is at least 0 where `expr` is: `d0 - 1` for `128 * d0 - 1`.
    """
    value = sum_of(expr, ranges)
    step = gcd(*value.terms.values()) or 1
    terms = {atom: factor // step for atom, factor in value.terms.items()}
    return Sum(terms, value.constant // step).expr()
