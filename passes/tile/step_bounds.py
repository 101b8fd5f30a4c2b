# SPDX-License-Identifier: Apache-2.0
"""
Bounds that leave out the steps of a reduction that have no effect, as beyond a causal diagonal.

If the yield is masked for all threads of a block, the step has no effect:

    %sum = loop.reduce %ko in 7 with add {
      %chunk = loop.reduce %ki in 16 with add {
        ...
        loop.yield %0 where [%b * 32 + %t - %ko * 16 - %ki] : f32

gets `below [%b * 2 + 2]` on %ko: no thread of the block contributes from there on. All threads of a
block load and wait together, so they have one bound: that of the last thread. The first steps are
left out in the same way. `where [%ko * 16 + %ki + 40 - %b * 32 - %t]` gives the bound of the first
thread, `from [%b * 2 - 3]`.

A sum without a mask gets the same bound if its terms are 0 beyond the bound (`annihilation.py`):

        %1 = loop.predicate [%b * 32 + %t - %ko * 16 - %ki] : i1
        %2 = arith.select %1, %0, %minus_infinity : f32
        %3 = math.exp %2 : f32
        %4 = arith.mulf %3, %v fastmath<nnan,ninf> : f32
        loop.yield %4 : f32
"""

from collections.abc import Callable, Iterator, Sequence, Set
from itertools import product
from math import inf
from typing import NamedTuple

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr
from xdsl.pattern_rewriter import PatternRewriter

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Access, canonical_access, range_of_value
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.index import Ranges, Sum, range_of, sum_of
from tilewright.dialects.loop.nest import within
from tilewright.dialects.monoid import Monoid
from tilewright.passes.facts.extremes import extreme
from tilewright.passes.rewriting.substitution import conjunction
from tilewright.passes.tile.annihilation import beyond
from tilewright.passes.tile.contracting_reductions import chunks_of
from tilewright.passes.tile.uniform_indices import varies_in_block

_IDENTITIES = {Monoid.ADD: 0, Monoid.MAX: -inf}
"""Identities of monoids; a term that is equal to it does not change the result."""


class _Bounds(NamedTuple):
    """Bounds of steps: none comes before `start`, and all are below `below`."""

    start: Sequence[AffineExpr]
    below: Sequence[AffineExpr]
    operands: Sequence[SSAValue]


def bound_masked_steps(op: loop.ReduceOp, rewriter: PatternRewriter) -> None:
    """
    Bound `op` to the steps in which any thread of a block contributes: the mask of its yield, or of
    its chunk's yield, allows it, and its terms are not the identity.
    """
    start, below, operands = _bounds_by_mask(op, varies_in_block)
    first = conjunction([op.start, (start, operands)])
    set_bounds(op, rewriter, first, conjunction([op.below, (below, operands)]))


def leaves_out_steps(op: loop.ReduceOp) -> bool:
    """
    True if the first or the last steps of `op` may have no effect in some block, so that a bound
    leaves them out.
    """
    start, below, operands = _bounds_by_mask(op, varies_in_block)
    useful = _useful(op, (start, operands), (below, operands))
    return any(exprs for exprs, _ in useful)


def make_bounds_uniform(launch: tile.LaunchOp, rewriter: PatternRewriter) -> None:
    """
    Make the bounds of loops the same for all threads of a block: from the start of the first thread
    to the end of the last. Steps that a thread did not do before are masked for it.
    """
    for op in [inner for inner in ops_in(launch) if isinstance(inner, loop.ReduceOp)]:
        if any(map(varies_in_block, op.bound_operands)):
            _mask_varying_bounds(op, rewriter)
            start, below = _uniform(op.start, is_last=False), _uniform(op.below, is_last=True)
            set_bounds(op, rewriter, start, below)


def set_bounds(op: loop.ReduceOp, rewriter: PatternRewriter, *bounds: Access | None) -> None:
    """Bound the steps of `op` by those of `bounds`, start and end, that may leave out a step."""
    op.set_bounds(*_useful(op, *bounds))
    rewriter.notify_op_modified(op)


def _useful(op: loop.ReduceOp, start: Access | None, below: Access | None) -> tuple[Access, Access]:
    """Return the bounds that may leave out a step of `op`."""
    extent = op.axis_extents()[0]
    late = _maybe_negative(start, lambda first: first * -1)
    early = _maybe_negative(below, lambda end: end - extent)
    return late, early


def _maybe_negative(bound: Access | None, margin: Callable[[AffineExpr], AffineExpr]) -> Access:
    """Return the bounds whose margin may be less than 0; the others leave out no step."""
    exprs, operands = bound or ((), ())
    ranges = [range_of_value(value) for value in operands]
    margins = [range_of(margin(expr), ranges) for expr in exprs]
    useful = [e for e, m in zip(exprs, margins, strict=True) if m is None or m.low < 0]
    return useful, operands


def _uniform(bound: Access | None, *, is_last: bool) -> Access | None:
    """
    Return the bound that all threads of a block share: that of the last thread, or of the first if
    not `is_last`.
    """
    exprs, operands = bound or ((), ())
    found = [extreme(expr, operands, varies_in_block, is_last=is_last) for expr in exprs]
    return [expr for expr in found if expr is not None], operands


def _mask_varying_bounds(op: loop.ReduceOp, rewriter: PatternRewriter) -> None:
    """
    Mask the steps that some threads of a block do not do, unless the yield's mask covers them.
    """
    known = _bounds_by_mask(op, lambda _: False)
    start = _varying_and_unknown(op.start, (known.start, known.operands))
    below = _varying_and_unknown(op.below, (known.below, known.operands))
    if not start and not below:
        return
    *_, innermost = chunks_of(op)
    old, where = innermost.yield_op, within(op.axis, start, below, op.bound_operands)
    new = loop.YieldOp(old.values, conjunction([old.where, where]))
    new.location = old.location
    rewriter.replace(old, new)


def _varying_and_unknown(bound: Access | None, known: Access) -> list[AffineExpr]:
    """Return the expressions of `bound` that vary in a block and are not in `known`."""
    exprs, operands = bound or ((), ())
    both = conjunction([(exprs, operands), known])
    if both is None:
        return []
    results = canonical_access(*both)[0].results
    others = results[len(exprs) :]
    varying = {at for at, index in enumerate(operands) if varies_in_block(index)}
    return [
        expr
        for expr, same in zip(exprs, results[: len(exprs)], strict=True)
        if same not in others and not varying.isdisjoint(expr.used_dims())
    ]


def _bounds_by_mask(op: loop.ReduceOp, varies: Callable[[SSAValue], bool]) -> _Bounds:
    """
    Return the bounds between which the mask of the innermost yield can hold. Each condition gives
    one bound, for the first or the last of the values that vary.
    """
    *_, innermost = chunks_of(op)
    inner: Set[SSAValue] = {chunk.axis for chunk in chunks_of(op)}
    exprs, operands = _joins_where(innermost)
    ranges = [range_of_value(value) for value in operands]
    positions = [at for at, operand in enumerate(operands) if operand is op.axis]
    start, below = list[AffineExpr](), list[AffineExpr]()
    for expr, at in product(exprs, positions):
        limit, is_last = _limit(expr, at, ranges) or (None, False)
        bound = limit and extreme(
            limit, operands, lambda v: v in inner or varies(v), is_last=is_last
        )
        if bound is not None:
            (below if is_last else start).append(bound)
    return _Bounds(start, below, operands)


def _joins_where(op: loop.ReduceOp) -> Access:
    """
    Return the conditions that hold in all steps with an effect: the mask, and that terms are not
    the identity.
    """
    return conjunction([op.yield_op.where, *_conditions_of_terms(op)]) or ((), ())


def _conditions_of_terms(op: loop.ReduceOp) -> Iterator[Access]:
    identity = _IDENTITIES.get(op.monoid.data)
    if identity is None:
        return
    predicates = [p for p in op.body.block.ops if isinstance(p, loop.PredicateOp)]
    for predicate in predicates:
        for expr in predicate.map.data.results:
            condition = [expr], predicate.indices
            terms = op.yield_op.values
            if all(beyond(term, condition, if_finite=True) == identity for term in terms):
                yield condition


def _limit(expr: AffineExpr, at: int, ranges: Ranges) -> tuple[AffineExpr, bool] | None:
    """
    Return the bound that `expr >= 0` sets to dimension `at`: an end and True, or a start and False.
    Return None if it sets neither.
    """
    value = sum_of(expr, ranges)
    terms = dict(value.terms)
    factor = terms.pop(AffineDimExpr(at), 0)
    if factor == 0 or any(at in atom.used_dims() for atom in terms):
        return None
    others = Sum(terms, value.constant).expr()
    if factor < 0:
        return others // -factor + 1, True
    return (others * -1 + (factor - 1)) // factor, False
