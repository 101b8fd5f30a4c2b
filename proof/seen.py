# SPDX-License-Identifier: Apache-2.0
"""
Values of a kernel as terms: loads are seen through slabs, and reductions opened into the terms that
they join.

    %as = tile.stage (%i, %k) in [32, 16] {
      %0 = loop.load %a[%bm * 32 + %i, %ko * 16 + %k]
      loop.yield %0
    }
    %x = loop.load %as[%tm * 4 + %vm, %ki]

The value `%x` is the element `%a[%bm * 32 + %tm * 4 + %vm, %ko * 16 + %ki]`.
"""

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects.loop import LoadOp, PrefixOp, ReduceOp, ScanOp
from tilewright.dialects.monoid import Monoid
from tilewright.dialects.tile import CombineOp, ShareOp, StageOp
from tilewright.dialects.types import memref_type
from tilewright.proof.digits import digits
from tilewright.proof.formulas import Formula, NonNegative, equal, replaced
from tilewright.proof.scope import Scope, UnmatchedError, with_values

JOINS = (ReduceOp, CombineOp, PrefixOp)
Join = ReduceOp | CombineOp | PrefixOp


class Seen(NamedTuple):
    """A value seen through slabs: an op's result, and the conditions under which it is not zero."""

    value: SSAValue
    scope: Scope
    unless_zero: Sequence[Formula] = ()
    """Conditions of the slabs' loads and yields: where one is false, a zero is in its place."""
    facts: Sequence[Formula] = ()
    """Statements that the view needs: the thread that shared a value exists."""


def seen(value: SSAValue, scope: Scope) -> Seen:
    """Return a value seen through all slabs that it was stored in."""
    conditions, facts = list[Formula](), list[Formula]()
    while isinstance(load := value.owner, LoadOp) and isinstance(
        source := load.memref.owner, StageOp | ShareOp
    ):
        conditions += scope.holds(load.where)
        element = scope.exprs((load.map.data.results, load.indices))
        if isinstance(source, StageOp):
            scope = scope.having(dict(zip(source.body.block.args, element, strict=True)))
            conditions += scope.holds(source.yield_op.where)
            (value,) = source.yield_op.values
        else:
            scope, more = _sharer(source, scope, element)
            facts += more
            value = source.value
    return Seen(value, scope, conditions, facts)


def _sharer(
    op: ShareOp, scope: Scope, element: Sequence[AffineExpr]
) -> tuple[Scope, Sequence[Formula]]:
    """Return the scope of the thread that shared an element, and that there is this thread."""
    variables, shape = scope.variables, memref_type(op.slab).get_shape()
    inner, positions, ranges = scope.opened(op.indices)
    subscripts = inner.exprs((op.map.data.results, op.indices))
    read = digits(subscripts, element, shape, variables.ranges, positions)
    if missing := [at for at in positions if at not in read]:
        raise UnmatchedError(f"{variables.names[missing[0]]} is no digit of a share's subscripts")
    exprs = with_values(variables, read)
    facts = [replaced(fact, exprs) for fact in (*ranges, equal(subscripts, element))]
    return inner.replaced(exprs), facts


class Joined(NamedTuple):
    """Terms that a value joins: those of `terms`, at each step of `axes` at which `facts` hold."""

    monoid: Monoid | None
    terms: Sequence[SSAValue]
    scope: Scope
    axes: Sequence[int] = ()
    facts: Sequence[Formula] = ()
    score_scope: Scope | None = None
    """Scope of the first term if another thread computes it: a score of softmax."""
    needs: Sequence[Formula] = ()
    """Statements that the terms need: another thread has the same row."""
    is_weighted: bool = False
    """True if the last term is multiplied by a weight: where it is zero, the product is zero."""

    def scope_of(self, term: int) -> Scope:
        """Return the scope of a term."""
        return self.scope if term or self.score_scope is None else self.score_scope


def monoid_of(op: Operation | Block) -> Monoid | None:
    """Return the monoid of a reduction, combine or prefix; None of all other ops."""
    return op.monoid.data if isinstance(op, JOINS) else None


def joined(value: SSAValue, scope: Scope, monoid: Monoid) -> Joined:
    """Return the terms of nested joins with `monoid`; a value that is none is its own only term."""
    found = Joined(monoid, _results_of(value, monoid) or [value], scope)
    while (op := _join_of(found.terms, monoid)) is not None:
        found = opened(found, op)
    return found


def _results_of(value: SSAValue, monoid: Monoid) -> Sequence[SSAValue]:
    op = value.owner
    return op.results if isinstance(op, JOINS) and op.monoid.data is monoid else ()


def _join_of(terms: Sequence[SSAValue], monoid: Monoid) -> Join | None:
    """Return the join with `monoid` whose results are `terms`, or None."""
    op = terms[0].owner
    if isinstance(op, JOINS) and op.monoid.data is monoid and [*op.results] == [*terms]:
        return op
    return None


def opened(outer: Joined, op: Join) -> Joined:
    """Return the terms of `op`, at each step of its axes and of the axes of `outer`."""
    match op:
        case ReduceOp():
            axes, terms, mask = [op.axis], op.yield_op.values, op.yield_op.where
        case CombineOp():
            axes, terms, mask = op.axes, op.values, op.where
        case PrefixOp():
            scan = op.parent_op()
            assert isinstance(scan, ScanOp)
            axes, terms, mask = [scan.axis], op.values, None
    scope, positions, ranges = outer.scope.opened(axes)
    facts = [*outer.facts, *ranges, *scope.holds(mask)]
    if isinstance(op, ReduceOp) and op.is_bounded:
        facts += scope.holds(op.done_where)
    if isinstance(op, PrefixOp):
        least = 1 if op.is_exclusive else 0  # steps from a term to the prefix that has it
        facts += [NonNegative(outer.scope.axes[axis] - scope.axes[axis] - least) for axis in axes]
    return outer._replace(terms=terms, scope=scope, axes=[*outer.axes, *positions], facts=facts)
