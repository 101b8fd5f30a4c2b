# SPDX-License-Identifier: Apache-2.0
"""
Conditions that hold wherever a value is needed.

    %0 = arith.mulf %sum, %scale
    %1 = loop.predicate [%i - %j] : i1
    %2 = arith.select %1, %0, %minus_infinity     %sum is needed where %i - %j is at least 0
    loop.store %2, %out[%i, %j]

A value is followed through elementwise computations to the selections that may drop it. Any other
use needs it everywhere: a store, a reduction, or an addition to a mask of infinities, which turns
an infinite value into NaN.
"""

from collections.abc import Iterator, Sequence

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Access, canonical_access
from tilewright.dialects.needed_first import needed_first
from tilewright.passes.cost.instruction_costs import is_computation
from tilewright.passes.facts.integer_ranges import is_true
from tilewright.passes.rewriting.substitution import conjunction

_Condition = tuple[AffineMap, tuple[SSAValue, ...]]
"""Canonical expression, at least 0 where the condition holds; equal conditions compare equal."""


def needed_where(values: Sequence[SSAValue]) -> Access | None:
    """
    Return a condition that holds wherever any of `values` is needed, or None if none is known.
    """
    found = _Needs().of_any(values)
    return conjunction((map.results, operands) for map, operands in found)


class _Needs:
    """Conditions under which values are needed, memoised."""

    def __init__(self) -> None:
        self.known: dict[SSAValue, list[_Condition]] = {}

    def of_any(self, values: Sequence[SSAValue]) -> list[_Condition]:
        return _common([self._of(value) for value in values])

    def _of(self, value: SSAValue) -> list[_Condition]:
        for each in needed_first(value, self.known, _computed_of):
            uses = [self._of_use(use.operation, each) for use in each.uses]
            self.known[each] = _common(uses)
        return self.known[value]

    def _of_use(self, op: Operation, value: SSAValue) -> list[_Condition]:
        if isinstance(op, tile.CombineOp):  # parts of one sum are needed together
            return [c for c in self.of_any(op.results) if not {*c[1]} & {*op.axes}]
        if not is_computation(op):
            return []
        needs = self.of_any(op.results)
        if not isinstance(op, arith.SelectOp) or value is op.cond or op.lhs is op.rhs:
            return needs
        return [*needs, *_holding(op.cond, value is op.lhs)]


def _computed_of(value: SSAValue) -> Iterator[SSAValue]:
    """Yield the values that are computed or combined from `value`."""
    users = (use.operation for use in value.uses)
    makers = (op for op in users if isinstance(op, tile.CombineOp) or is_computation(op))
    return (result for op in makers for result in op.results)


def _common(found: Sequence[list[_Condition]]) -> list[_Condition]:
    """Return the conditions that are in all lists; none if there are no lists."""
    first = found[0] if found else []
    return [c for c in dict.fromkeys(first) if all(c in others for others in found)]


def _holding(condition: SSAValue, truth: bool) -> list[_Condition]:
    """Return the conditions that hold wherever `condition` is `truth`."""
    match condition.owner:
        case loop.PredicateOp() as op:
            exprs = op.map.data.results
            return _conditions(exprs if truth else _negated(exprs), op.indices)
        case loop.LoadOp(where=where) if truth and where is not None:  # false beyond its mask
            return _conditions(*where)
        case arith.AndIOp() | arith.OrIOp() as op if isinstance(op, arith.AndIOp) is truth:
            return [*_holding(op.lhs, truth), *_holding(op.rhs, truth)]
        case arith.XOrIOp() as op if is_true(op.rhs):
            return _holding(op.lhs, not truth)
        case _:
            return []


def _negated(exprs: Sequence[AffineExpr]) -> Sequence[AffineExpr]:
    """
    Return the condition that one of `exprs` is below 0, if there is a single expression; else none.
    """
    return [expr * -1 - 1 for expr in exprs] if len(exprs) == 1 else ()


def _conditions(exprs: Sequence[AffineExpr], operands: Sequence[SSAValue]) -> list[_Condition]:
    canonical = (canonical_access([expr], operands) for expr in exprs)
    return [(map, tuple(used)) for map, used in canonical]
