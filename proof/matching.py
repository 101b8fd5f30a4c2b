# SPDX-License-Identifier: Apache-2.0
"""
Two joins side by side: of a tile, and of its loop nest. The solver proves that

* each term of the tile is a term of the nest: the same ops on the same elements;
* each term of the nest is one of the tile's;
* no two terms of the tile are one term of the nest, unless the monoid joins a term twice as once.

Where loads stand against each other, the step of the nest is read from that of the tile as digits,
and the other way round. A wrong guess is no refutation: the answer is then unknown.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from tilewright.dialects.monoid import Monoid
from tilewright.proof.answer import Answer, Outcome
from tilewright.proof.claim import Claim
from tilewright.proof.digits import digits
from tilewright.proof.formulas import (
    All,
    Formula,
    Not,
    Variables,
    constant,
    equal,
    replaced,
)
from tilewright.proof.scope import UnmatchedError, with_values
from tilewright.proof.seen import Joined, joined, monoid_of
from tilewright.proof.smtlib import script
from tilewright.proof.softmax import softmax_parts
from tilewright.proof.solver import Solver
from tilewright.proof.term_pairs import Inner, Pair, Read
from tilewright.proof.zeros import is_zero

_UNCOUNTED = (Monoid.MAX, Monoid.MIN, Monoid.AND, Monoid.OR, Monoid.ARGMAX, Monoid.ARGMIN)
"""Monoids that join a term twice as they join it once."""


class UnprovedError(Exception):
    """A claim about terms that was not proved."""

    def __init__(self, answer: Answer):
        super().__init__(answer.evidence)
        self.answer = answer


class _Sides(NamedTuple):
    """Two joins, and what is known and claimed about each pair of their terms."""

    new: Joined
    old: Joined
    given: Sequence[Formula]
    goals: Sequence[Formula]
    """Conditions, at a step of both, under which their terms are equal."""
    data: Sequence[AffineExpr]
    """Variables of the terms that stand for indices from data."""


class _Guess(NamedTuple):
    """Steps of the nest by those of the tile, and back: an expression for each variable."""

    forth: Sequence[AffineExpr]
    back: Sequence[AffineExpr]


@dataclass(frozen=True)
class Matching:
    """Proof that two kernels with the given buffers join the same terms."""

    op: Operation
    variables: Variables
    buffers: Mapping[SSAValue, SSAValue]
    """Buffers of the nest by those of the tile."""
    is_partial: bool
    """True if the stores need not cover their output: then each store of the nest is matched."""
    solver: Solver

    def match(
        self, new: Joined, old: Joined, given: Sequence[Formula], element: Read | None = None
    ) -> None:
        """
        Prove that two joins have the same terms where `given` is true; `element` are the subscripts
        of their stores. Raises `UnmatchedError` or `UnprovedError`.
        """
        pair = Pair(self.buffers)
        pair.walk_terms(new, old)
        given = [*given, *pair.given]
        goals = [*pair.goals, *([] if element is None else [equal(element.new, element.old)])]
        goals += new.needs
        reads = [*([] if element is None else [element]), *pair.reads]
        sides = _Sides(new, old, given, goals, pair.data)
        forth = self._first_proved(sides, reads, pair.inner)
        for inner in pair.inner:
            self._inner(inner, forth, [*given, *self._active(new), *inner.guards])

    def _active(self, of: Joined) -> Sequence[Formula]:
        """Return the conditions under which a term takes part: others are zeros of a sum."""
        is_term_of_sum = of.monoid is Monoid.ADD and len(of.terms) == 1
        if not is_term_of_sum and not of.is_weighted:
            return of.facts
        return [*of.facts, Not(is_zero(of.terms[-1], of.scope))]

    def _first_proved(
        self, sides: _Sides, reads: Sequence[Read], inner: Sequence[Inner]
    ) -> Sequence[AffineExpr]:
        """Return the steps of the nest, read from the first or else the last read, if proved."""
        failed = list[Answer]()
        more = () if self._are_read(sides, reads) else self._reads_within(inner)
        for ordered in (reads, reads[::-1]):
            guess = self._guess(sides.new, sides.old, [*ordered, *more])
            answer = self._first_unproved(self._claims(sides, guess))
            if answer is None:
                return guess.forth
            failed.append(answer)
        raise UnprovedError(failed[0])

    def _first_unproved(self, claims: Sequence[Claim]) -> Answer | None:
        """Return the answer to the first claim that is not proved: unknown, as a guess may fail."""
        for claim in claims:
            answer = claim.decide(self.solver)
            if answer.outcome is not Outcome.PROVED:
                is_wrong = answer.outcome is Outcome.REFUTED
                reason = f"no match of terms at {answer.evidence}" if is_wrong else answer.evidence
                text = script(self.variables.names, claim.question)
                return Answer(Outcome.UNKNOWN, reason, text)
        return None

    def _are_read(self, sides: _Sides, reads: Sequence[Read]) -> bool:
        """True if the subscripts of `reads` determine the steps of all axes."""
        exprs = [expr for read in reads for expr in (*read.new, *read.old)]
        found = set[int]().union(*(expr.used_dims() for expr in exprs))
        return found >= {*sides.new.axes, *sides.old.axes}

    def _reads_within(self, joins: Sequence[Inner]) -> Sequence[Read]:
        """
        Return the subscripts within joins inside of terms that are those of the terms' own axes. A
        score that is a sum itself is read at its key there.
        """
        known, pair = len(self.variables.names), Pair(self.buffers)
        for inner in joins:
            try:
                pair.walk_terms(*self._joins_of(inner))
            except UnmatchedError:
                continue
        self.variables.drop(known)
        return [read.of_variables(known) for read in pair.reads]

    def _guess(self, new: Joined, old: Joined, reads: Sequence[Read]) -> _Guess:
        forth = self._steps(old.axes, [(read.old, read.new, read.shape) for read in reads])
        back = self._steps(new.axes, [(read.new, read.old, read.shape) for read in reads])
        return _Guess(forth, back)

    def _steps(
        self,
        axes: Sequence[int],
        reads: Sequence[tuple[Sequence[AffineExpr], Sequence[AffineExpr], Sequence[int]]],
    ) -> Sequence[AffineExpr]:
        """Return expressions for `axes`, read from subscripts that equal others."""
        ranges, found = self.variables.ranges, dict[int, AffineExpr]()
        for subscripts, others, shape in reads:
            found = {**digits(subscripts, others, shape, ranges, axes), **found}
        return with_values(self.variables, {at: found.get(at, constant(0)) for at in axes})

    def _claims(self, sides: _Sides, guess: _Guess) -> Sequence[Claim]:
        new, old, given, goals, _ = sides
        every = [*old.facts, *goals]
        claims = [self._claim([*given, *self._active(new)], replaced(All(every), guess.forth))]
        if new.monoid is not None or self.is_partial:
            claims.append(self._onto(sides, guess))
        if new.monoid is not None and new.monoid not in _UNCOUNTED:
            claims.append(self._once(sides, guess))
        return claims

    def _onto(self, sides: _Sides, guess: _Guess) -> Claim:
        """Return the claim that each term of the nest is one of the tile's."""
        axes = sides.old.axes
        steps = [AffineExpr.dimension(at) for at in axes]
        there = [guess.forth[at].replace_dims_and_symbols(guess.back, ()) for at in axes]
        reached = [replaced(All(self._active(sides.new)), guess.back), equal(there, steps)]
        return self._claim([*sides.given, *self._active(sides.old)], All(reached))

    def _once(self, sides: _Sides, guess: _Guess) -> Claim:
        """Return the claim that two steps of the tile are two steps of the nest."""
        variables, axes = self.variables, sides.new.axes
        data = [expr.position for expr in sides.data if isinstance(expr, AffineDimExpr)]
        others = {
            at: variables.new(f"{variables.names[at]}'", variables.ranges[at].high + 1)
            for at in (*axes, *data)
        }
        exprs = with_values(variables, others)
        steps = [guess.forth[at] for at in sides.old.axes]
        active = [*sides.given, *self._active(sides.new)]
        return self._claim(
            [*active, replaced(All(active), exprs)],
            equal([AffineExpr.dimension(at) for at in axes], [others[at] for at in axes]),
            [equal(steps, [step.replace_dims_and_symbols(exprs, ()) for step in steps])],
        )

    def _claim(
        self, steps: Sequence[Formula], claim: Formula, given: Sequence[Formula] = ()
    ) -> Claim:
        names = self.variables.names
        shown = self.variables.named(map(AffineExpr.dimension, range(len(names))))
        return Claim("same", "terms", self.op, self.variables, steps, claim, given, shown)

    def _inner(self, inner: Inner, forth: Sequence[AffineExpr], given: Sequence[Formula]) -> None:
        """Match two joins inside of terms, at the steps of the nest that `forth` gives."""
        exprs = [*forth, *map(AffineExpr.dimension, range(len(forth), len(self.variables.names)))]
        placed = inner._replace(old=inner.old._replace(scope=inner.old.scope.replaced(exprs)))
        new, old = self._joins_of(placed)
        for ours, theirs in softmax_parts(new, old, _number(inner.new.value)):
            self.match(ours, theirs, given)

    def _joins_of(self, inner: Inner) -> tuple[Joined, Joined]:
        """Return the terms of two joins; raises `UnmatchedError` if their forms differ."""
        (value, scope), (other, old_scope), _ = inner
        monoids = [monoid_of(each.owner) for each in (value, other)]
        monoid = monoids[0] or monoids[1]
        if monoid is None or monoids[0] not in (None, monoid) or monoids[1] not in (None, monoid):
            raise UnmatchedError(f"a join with {monoids[0]} against one with {monoids[1]}")
        new, old = joined(value, scope, monoid), joined(other, old_scope, monoid)
        if len(new.terms) != len(old.terms) or _number(value) != _number(other):
            raise UnmatchedError(f"{len(new.terms)} joined values against {len(old.terms)}")
        return new, old


def _number(value: SSAValue) -> int:
    """Return the number of a result among those of its op."""
    return value.index if isinstance(value, OpResult) else 0
