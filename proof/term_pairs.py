# SPDX-License-Identifier: Apache-2.0
"""
Two values side by side: the conditions under which they are equal, as the same ops on the same
elements.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl.dialects.arith import SelectOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects.axes import Access
from tilewright.dialects.loop import IndexOp, LoadOp, PredicateOp, ToIndexOp
from tilewright.dialects.types import memref_type
from tilewright.proof.formulas import All, Formula, Not, Some, below, equal, same_truth
from tilewright.proof.points import name_of
from tilewright.proof.scope import Scope, UnmatchedError
from tilewright.proof.seen import Joined, monoid_of, seen


class Placed(NamedTuple):
    """A value in a scope."""

    value: SSAValue
    scope: Scope


class Read(NamedTuple):
    """Subscripts of both sides, of which each is a clue to the steps of the other."""

    new: Sequence[AffineExpr]
    old: Sequence[AffineExpr]
    shape: Sequence[int]

    def of_variables(self, known: int) -> "Read":
        """Return the subscripts that have variables below `known` on both sides."""
        positions = [
            at
            for at, exprs in enumerate(zip(self.new, self.old, strict=True))
            if all(dim < known for expr in exprs for dim in expr.used_dims())
        ]
        new, old = ([side[at] for at in positions] for side in (self.new, self.old))
        return Read(new, old, [self.shape[at] for at in positions])


class Inner(NamedTuple):
    """Two joins inside of the values, which are equal only if their terms are."""

    new: Placed
    old: Placed
    guards: Sequence[Formula]


@dataclass
class Pair:
    """Conditions, collected in a walk through two values, under which they are equal."""

    buffers: Mapping[SSAValue, SSAValue]
    """Buffers of the old kernel by those of the new one."""
    goals: list[Formula] = field(default_factory=list[Formula])
    given: list[Formula] = field(default_factory=list[Formula])
    data: list[AffineExpr] = field(default_factory=list[AffineExpr])
    """Variables that stand for indices from data, with their ranges in `given`."""
    reads: list[Read] = field(default_factory=list[Read])
    inner: list[Inner] = field(default_factory=list[Inner])

    def walk_terms(self, new: Joined, old: Joined) -> None:
        """Add the conditions under which the terms of two joins are equal, one by one."""
        for at, (ours, theirs) in enumerate(zip(new.terms, old.terms, strict=True)):
            self.walk(Placed(ours, new.scope_of(at)), Placed(theirs, old.scope_of(at)))

    def walk(self, new: Placed, old: Placed, guards: Sequence[Formula] = ()) -> None:
        """
        Add the conditions under which two values are equal where `guards` hold; raises
        `UnmatchedError` if they are of different form.
        """
        value, scope, conditions, facts = seen(*new)
        ours, theirs = value.owner, old.value.owner
        assert isinstance(ours, Operation)
        assert isinstance(theirs, Operation)
        self._need(guards, *facts)
        if isinstance(ours, LoadOp) and isinstance(theirs, LoadOp):
            self._loads(ours, scope, theirs, old.scope, guards, conditions)
            return
        self._need(guards, *conditions)
        if monoid_of(ours) or monoid_of(theirs):
            inner = Inner(Placed(value, scope), old, guards)
            self.inner += [] if inner in self.inner else [inner]
        elif ours.result_types != theirs.result_types:
            raise UnmatchedError(f"{ours.name} of another type")
        elif isinstance(ours, IndexOp) and isinstance(theirs, IndexOp):
            self._need(guards, equal(scope.exprs(_map(ours)), old.scope.exprs(_map(theirs))))
        elif isinstance(ours, PredicateOp) and isinstance(theirs, PredicateOp):
            masks = scope.holds(_map(ours)), old.scope.holds(_map(theirs))
            self._need(guards, same_truth(*map(All, masks)))
        elif _form(ours) == _form(theirs):
            self._operands(ours, scope, theirs, old.scope, guards)
        else:
            raise UnmatchedError(f"{ours.name} against {theirs.name}")

    def _need(self, guards: Sequence[Formula], *goals: Formula) -> None:
        self.goals += [_implied(guards, goal) for goal in goals]

    def _operands(
        self,
        new: Operation,
        scope: Scope,
        old: Operation,
        old_scope: Scope,
        guards: Sequence[Formula],
    ) -> None:
        pairs = [
            (Placed(ours, scope), Placed(theirs, old_scope))
            for ours, theirs in zip(new.operands, old.operands, strict=True)
        ]
        more: list[Sequence[Formula]] = [guards] * len(pairs)
        if isinstance(new, SelectOp) and isinstance(chosen := new.cond.owner, PredicateOp):
            # The value that is not chosen does not matter.
            mask = scope.holds(_map(chosen))
            more = [guards, [*guards, *mask], [*guards, Not(All(mask))]]
        for (ours, theirs), needed in zip(pairs, more, strict=True):
            self.walk(ours, theirs, needed)

    def _loads(
        self,
        new: LoadOp,
        scope: Scope,
        old: LoadOp,
        old_scope: Scope,
        guards: Sequence[Formula],
        conditions: Sequence[Formula],
    ) -> None:
        if self.buffers.get(new.memref) is not old.memref:
            raise UnmatchedError(f"load from {name_of(new.memref)} and {name_of(old.memref)}")
        scope, old_scope = self._data(new, scope, old, old_scope, guards)
        mask = All([*conditions, *scope.holds(new.where)])
        self._need(guards, same_truth(mask, All(old_scope.holds(old.where))))
        read = Read(
            scope.exprs(_map(new)), old_scope.exprs(_map(old)), memref_type(old.memref).get_shape()
        )
        self._need([*guards, mask], equal(read.new, read.old))
        self.reads.append(read)

    def _data(
        self,
        new: LoadOp,
        scope: Scope,
        old: LoadOp,
        old_scope: Scope,
        guards: Sequence[Formula],
    ) -> tuple[Scope, Scope]:
        """Return the scopes with one variable for each pair of indices that are equal data."""
        ours, theirs = _indices_of_data(new), _indices_of_data(old)
        if len(ours) != len(theirs):
            raise UnmatchedError(f"load from {name_of(new.memref)} by other data")
        for index, other in zip(ours, theirs, strict=True):
            self._need(guards, *scope.holds(index.where), *old_scope.holds(other.where))
            self.walk(Placed(index.value, scope), Placed(other.value, old_scope), guards)
            size = index.bound.value.data
            data = scope.variables.new(name_of(index.result), size)
            self.data.append(data)
            self.given.append(below(data, size))
            scope = scope.having({index.result: data})
            old_scope = old_scope.having({other.result: data})
        return scope, old_scope


def _form(op: Operation) -> tuple[str, Mapping[str, Attribute]]:
    """Return the name and the properties of an op."""
    return op.name, op.properties


def _implied(guards: Sequence[Formula], goal: Formula) -> Formula:
    return Some((Not(All(guards)), goal)) if guards else goal


def _map(op: LoadOp | IndexOp | PredicateOp) -> Access:
    return op.map.data.results, op.indices


def _indices_of_data(op: LoadOp) -> Sequence[ToIndexOp]:
    owners = [value.owner for value in (*op.indices, *op.mask_operands)]
    return [*dict.fromkeys(owner for owner in owners if isinstance(owner, ToIndexOp))]
