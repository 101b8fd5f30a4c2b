# SPDX-License-Identifier: Apache-2.0
"""
Leaving out steps of a reduction that count for nothing, as beyond the diagonal of causal attention.

Those whose yield is masked for all threads of a block:

    %sum = loop.reduce %ko in 7 with add {
      %chunk = loop.reduce %ki in 16 with add {
        ...
        loop.yield %0 where [%b * 32 + %t - %ko * 16 - %ki] : f32

gets `below [%b * 2 + 2]` on %ko: no thread of the block joins anything from there on. A bound is
the same for all threads of a block, which load and wait together: it is that of the last of them.
Where a window ends, at `where [%ko * 16 + %ki + 40 - %b * 32 - %t]`, it is that of the first:
`from [%b * 2 - 3]`.

So does the same sum without a mask, if what it yields is 0 beyond (`annihilation.py`):

        %1 = loop.predicate [%b * 32 + %t - %ko * 16 - %ki] : i1
        %2 = arith.select %1, %0, %minus_infinity : f32
        %3 = math.exp %2 : f32
        %4 = arith.mulf %3, %v fastmath<nnan,ninf> : f32
        loop.yield %4 : f32

And all steps, in blocks of which nobody needs the result:

    %sum = loop.reduce %ko in 4 with add { ... }
    %1 = loop.predicate [%bm * 32 + %tm - %bn * 32 - %tn] : i1
    %2 = arith.select %1, %sum, %minus_infinity : f32

gets `below [%bm * 4 - %bn * 4 + 4]`: at least 4 for blocks on the diagonal or below, which do all
of their steps, and no more than 0 for those above it, which do none.
"""

from collections.abc import Callable, Iterator, Sequence, Set
from itertools import product
from math import gcd, inf
from typing import NamedTuple

from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr
from xdsl.pattern_rewriter import PatternRewriter

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Access, canonical_access, range_of_value
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.index import Ranges, Sum, range_of, sum_of
from tilewright.dialects.loop.nest import within
from tilewright.dialects.monoid import Monoid
from tilewright.passes.facts.nest import nested_chunk
from tilewright.passes.rewriting.substitution import conjunction
from tilewright.passes.tile.annihilation import beyond
from tilewright.passes.tile.contracting_reductions import chunks_of, contracting_reductions
from tilewright.passes.tile.extremes import extreme
from tilewright.passes.tile.needed_where import needed_where
from tilewright.passes.tile.uniform_indices import varies_in_block

_IDENTITIES = {Monoid.ADD: 0, Monoid.MAX: -inf}
"""What joins a reduction unseen, of those whose terms masks hide."""


class _Bounds(NamedTuple):
    """What steps are not before, and what they are below."""

    start: Sequence[AffineExpr]
    below: Sequence[AffineExpr]
    operands: Sequence[SSAValue]


def leave_out_masked_steps(op: loop.ReduceOp, rewriter: PatternRewriter) -> None:
    """Bound `op` where the mask of its yield, or of its chunk's, lets no thread join."""
    start, below, operands = _bounds_by_mask(op, varies_in_block)
    first = conjunction([op.start, (start, operands)])
    _set_bounds(op, rewriter, first, conjunction([op.below, (below, operands)]))


def leaves_out_steps(op: loop.ReduceOp) -> bool:
    """True if the mask of what `op` joins may leave out its first steps or its last."""
    start, below, operands = _bounds_by_mask(op, varies_in_block)
    useful = _useful(op, (start, operands), (below, operands))
    return any(exprs for exprs, _ in useful)


def make_bounds_uniform(launch: tile.LaunchOp, rewriter: PatternRewriter) -> None:
    """
    Let the threads of a block begin with the first of them, and go on as far as the last. The steps
    that some of them did not do are masked for those.
    """
    for op in [inner for inner in ops_in(launch) if isinstance(inner, loop.ReduceOp)]:
        if any(map(varies_in_block, op.bound_operands)):
            _mask_what_varies(op, rewriter)
            start, below = _uniform(op.start, is_last=False), _uniform(op.below, is_last=True)
            _set_bounds(op, rewriter, start, below)


def leave_out_unneeded_steps(launch: tile.LaunchOp, rewriter: PatternRewriter) -> None:
    """
    Let the contractions of a launch that is parted into blocks do no chunk in blocks of which
    nobody needs the result.
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
        # where a condition holds the bound is the extent or more, elsewhere 0 or less
        extent = op.axis_extents()[0]
        bounds = [(expr + 1) * extent for expr in conditions]
        _set_bounds(op, rewriter, op.start, conjunction([op.below, (bounds, operands)]))


def _varies_or_follows(op: loop.ReduceOp) -> Callable[[SSAValue], bool]:
    """What may not bound `op`: indices that vary in a block, or that come after it."""

    def varies(index: SSAValue) -> bool:
        return varies_in_block(index) or _follows(index, op)

    return varies


def _follows(index: SSAValue, op: Operation) -> bool:
    made_by = index.owner
    return isinstance(made_by, Operation) and op.is_before_in_block(made_by)


def _set_bounds(op: loop.ReduceOp, rewriter: PatternRewriter, *bounds: Access | None) -> None:
    op.set_bounds(*_useful(op, *bounds))
    rewriter.notify_op_modified(op)


def _useful(op: loop.ReduceOp, start: Access | None, below: Access | None) -> tuple[Access, Access]:
    """Those of the bounds that may leave out a step of `op`."""
    extent = op.axis_extents()[0]
    late = _without(start, lambda first: first * -1)
    early = _without(below, lambda end: end - extent)
    return late, early


def _without(bound: Access | None, margin: Callable[[AffineExpr], AffineExpr]) -> Access:
    """Without the bounds whose margin is never less than 0."""
    exprs, operands = bound or ((), ())
    ranges = [range_of_value(value) for value in operands]
    margins = [range_of(margin(expr), ranges) for expr in exprs]
    useful = [e for e, m in zip(exprs, margins, strict=True) if m is None or m.low < 0]
    return useful, operands


def _uniform(bound: Access | None, *, is_last: bool) -> Access | None:
    """Return the bound of all threads of a block: the first of theirs, or the last."""
    exprs, operands = bound or ((), ())
    found = [extreme(expr, operands, varies_in_block, is_last=is_last) for expr in exprs]
    return [expr for expr in found if expr is not None], operands


def _mask_what_varies(op: loop.ReduceOp, rewriter: PatternRewriter) -> None:
    """Mask the steps out of bounds that are not those of all threads, unless the mask does so."""
    known = _bounds_by_mask(op, lambda _: False)
    start = _unknown(op.start, (known.start, known.operands))
    below = _unknown(op.below, (known.below, known.operands))
    if not start and not below:
        return
    *_, innermost = chunks_of(op)
    old, where = innermost.yield_op, within(op.axis, start, below, op.bound_operands)
    new = loop.YieldOp(old.values, conjunction([old.where, where]))
    new.location = old.location
    rewriter.replace(old, new)


def _unknown(bound: Access | None, known: Access) -> list[AffineExpr]:
    """What of `bound` varies in a block and is not among what is known."""
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
    Between which steps the mask of the innermost yield can hold, one bound for each condition that
    says so, for the first or the last of what varies.
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
    """What holds in all steps that join anything: the mask, and that a sum's terms are not 0."""
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
    What dimension `at` is below where `expr` is at least 0, and True; or what it is not before, and
    False; None if that does not bound it.
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


def _reduced(expr: AffineExpr, ranges: Ranges) -> AffineExpr:
    """Return the smallest that is at least 0 where `expr` is: `d0 - 1` for `128 * d0 - 1`."""
    value = sum_of(expr, ranges)
    step = gcd(*value.terms.values()) or 1
    terms = {atom: factor // step for atom, factor in value.terms.items()}
    return Sum(terms, value.constant // step).expr()
