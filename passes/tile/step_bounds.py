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
from math import gcd

from xdsl.ir import BlockArgument, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Access, canonical_access, range_of_value
from tilewright.dialects.index import Ranges, Sum, range_of, sum_of
from tilewright.dialects.monoid import Monoid
from tilewright.dialects.nested_ops import ops_in
from tilewright.dialects.tile_axes import Level
from tilewright.passes.chunks import nested_chunk
from tilewright.passes.substitution import conjunction
from tilewright.passes.tile.annihilation import vanishes_beyond
from tilewright.passes.tile.contracting_reductions import chunks_of, contracting_reductions
from tilewright.passes.tile.needed_where import needed_where


def leave_out_masked_steps(op: loop.ReduceOp) -> None:
    """Bound `op` where the mask of its yield, or of its chunk's, lets no thread join any more."""
    bounds, operands = _bounds_by_mask(op, varies_in_block)
    extent = op.axis_extents()[0]
    ranges = [range_of_value(value) for value in operands]
    known = [(bound, range_of(bound, ranges)) for bound in bounds]
    useful = [bound for bound, found in known if found is None or found.low < extent]
    if useful:
        op.below = conjunction([op.below, (useful, operands)])


def make_bounds_uniform(launch: tile.LaunchOp) -> None:
    """
    Let the threads of a block go on as far as the last of them. The steps that some of them did not
    do are masked for those.
    """
    for op in [inner for inner in ops_in(launch) if isinstance(inner, loop.ReduceOp)]:
        if op.below is None or not any(map(varies_in_block, op.bound_operands)):
            continue
        exprs, operands = op.below
        varying = {at for at, index in enumerate(operands) if varies_in_block(index)}
        _mask_by(op, [e for e in exprs if not varying.isdisjoint(e.used_dims())], operands)
        bounds = [_last(expr, operands, varies_in_block) for expr in exprs]
        op.below = [bound for bound in bounds if bound is not None], operands


def leave_out_unneeded_steps(launch: tile.LaunchOp) -> None:
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
        last = [_last(expr, operands, varies_in_block) for expr in exprs]
        conditions = [_reduced(expr, ranges) for expr in last if expr is not None]
        # where a condition holds the bound is the extent or more, elsewhere 0 or less
        extent = op.axis_extents()[0]
        bounds = [(expr + 1) * extent for expr in conditions if not _holds(expr, ranges)]
        op.below = conjunction([op.below, (bounds, operands)])


def varies_in_block(index: SSAValue) -> bool:
    """Whether an index may differ between threads: those of their axes do, and data."""
    if not isinstance(index, BlockArgument):
        return True
    return tile.launch_of(index) is not None and tile.level_of(index) is not Level.BLOCK


def _mask_by(op: loop.ReduceOp, exprs: Sequence[AffineExpr], operands: Sequence[SSAValue]) -> None:
    """Mask the steps that are not below `exprs`, unless the mask says so already."""
    masked, masked_operands = _bounds_by_mask(op, lambda _: False)
    shift = [AffineExpr.dimension(len(operands) + d) for d in range(len(masked_operands))]
    shifted = [bound.replace_dims_and_symbols(shift, ()) for bound in masked]
    map, _ = canonical_access([*exprs, *shifted], [*operands, *masked_operands])
    known = map.results[len(exprs) :]
    missing = [e for e, same in zip(exprs, map.results, strict=False) if same not in known]
    if not missing:
        return
    step = AffineExpr.dimension(len(operands))
    *_, innermost = chunks_of(op)
    _mask_yield(innermost, ([e - 1 - step for e in missing], [*operands, op.axis]))


def _mask_yield(op: loop.ReduceOp, where: Access) -> None:
    old = op.yield_op
    new = loop.YieldOp(old.values, conjunction([old.where, where]))
    new.location = old.location
    op.body.block.erase_op(old)
    op.body.block.add_op(new)


def _bounds_by_mask(op: loop.ReduceOp, varies: Callable[[SSAValue], bool]) -> Access:
    """
    Below which steps the mask of the innermost yield can hold, one bound for each condition that
    says so, for the last of what varies.
    """
    *_, innermost = chunks_of(op)
    inner: Set[SSAValue] = {chunk.axis for chunk in chunks_of(op)}
    exprs, operands = _joins_where(innermost)
    bounds: list[AffineExpr] = []
    for expr in exprs:
        for at in (at for at, operand in enumerate(operands) if operand is op.axis):
            limit = _limit(expr, at, [range_of_value(value) for value in operands])
            bound = limit and _last(limit, operands, lambda v: v in inner or varies(v))
            bounds += [] if bound is None else [bound]
    return bounds, operands


def _joins_where(op: loop.ReduceOp) -> Access:
    """What holds in all steps that join anything: the mask, and that a sum's terms are not 0."""
    return conjunction([op.yield_op.where, *_conditions_of_terms(op)]) or ((), ())


def _conditions_of_terms(op: loop.ReduceOp) -> Iterator[Access]:
    if op.monoid.data is not Monoid.ADD:
        return
    predicates = [p for p in op.body.block.ops if isinstance(p, loop.PredicateOp)]
    for predicate in predicates:
        for expr in predicate.map.data.results:
            condition = [expr], predicate.indices
            terms = op.yield_op.values
            if all(vanishes_beyond(term, condition, if_finite=True) for term in terms):
                yield condition


def _limit(expr: AffineExpr, at: int, ranges: Ranges) -> AffineExpr | None:
    """What dimension `at` is below where `expr` is at least 0, None if that does not bound it."""
    step = AffineDimExpr(at)
    terms = dict(sum_of(expr, ranges).terms)
    factor = -terms.pop(step, 0)
    if factor <= 0 or any(at in atom.used_dims() for atom in terms):
        return None
    return Sum(terms, sum_of(expr, ranges).constant).expr() // factor + 1


def _reduced(expr: AffineExpr, ranges: Ranges) -> AffineExpr:
    """The smallest that is at least 0 where `expr` is: `d0 - 1` for `128 * d0 - 1`."""
    value = sum_of(expr, ranges)
    step = gcd(*value.terms.values()) or 1
    terms = {atom: factor // step for atom, factor in value.terms.items()}
    return Sum(terms, value.constant // step).expr()


def _holds(expr: AffineExpr, ranges: Ranges) -> bool:
    """Whether `expr` is known to be at least 0."""
    known = range_of(expr, ranges)
    return known is not None and known.low >= 0


def _last(
    expr: AffineExpr, operands: Sequence[SSAValue], varies: Callable[[SSAValue], bool]
) -> AffineExpr | None:
    """The largest that `expr` becomes for any values of the operands that vary."""
    ranges = [range_of_value(value) for value in operands]
    varying = {at for at, value in enumerate(operands) if varies(value)}
    return _extreme(expr, varying, ranges, is_last=True)


def _extreme(
    expr: AffineExpr, varying: Set[int], ranges: Ranges, *, is_last: bool
) -> AffineExpr | None:
    """Without the dimensions that vary, never less than `expr`; or never more, if not `is_last`."""
    value = sum_of(expr, ranges)
    total: AffineExpr = AffineConstantExpr(value.constant)
    for atom, factor in value.terms.items():
        part = _extreme_atom(atom, varying, ranges, is_last=is_last == (factor > 0))
        if part is None:
            return None
        total = total + part * factor
    return total


def _extreme_atom(
    atom: AffineExpr, varying: Set[int], ranges: Ranges, *, is_last: bool
) -> AffineExpr | None:
    if varying.isdisjoint(atom.used_dims()):
        return atom
    match atom:
        case AffineBinaryOpExpr(AffineBinaryOpKind.FloorDiv, inner, AffineConstantExpr() as size):
            found = _extreme(inner, varying, ranges, is_last=is_last)
            return None if found is None else found // size
        case _:
            known = range_of(atom, ranges)
            return None if known is None else AffineConstantExpr(known[is_last])
