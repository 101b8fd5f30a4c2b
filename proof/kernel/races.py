# SPDX-License-Identifier: Apache-2.0
"""
Obligations `race` of arrays in shared memory: of two threads that access one element, one of them
to write, one waits for the other in between.

    scf.for %k ... {
      kernel.ring_wait %ring, %k pending 0
      kernel.copy_async ... to %s[%next mod 2, %t]
      ...
      %0 = loop.load %s[%k mod 2, 31 - %t]
    }

Two accesses race at a point of two threads where they have a common element and no barrier is
between them. A `copy_async` writes at any time until a wait for its group of copies; up to then it
also races with its own thread.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

from xdsl.dialects import scf
from xdsl.ir import BlockArgument, Operation
from xdsl.ir.affine import AffineExpr

from tilewright.dialects.kernel import (
    FuncOp,
    RemoteOp,
    RingCommitOp,
    RingWaitOp,
)
from tilewright.dialects.kernel.ring import FillOp, RingType
from tilewright.dialects.tile import Transport
from tilewright.proof.answer import PROVED, Answer, Obligation, Outcome, point_text
from tilewright.proof.formulas import (
    All,
    Formula,
    IsZero,
    NonNegative,
    Not,
    Variables,
    constant,
    equal,
    holds,
)
from tilewright.proof.kernel.counting import Count, before
from tilewright.proof.kernel.intervals import IntervalClaim, is_never
from tilewright.proof.kernel.ordering import (
    NEVER,
    Pair,
    both,
    either,
    pairs_of,
    path_to,
    unordered_at_end,
)
from tilewright.proof.kernel.places import Place, places_of, share
from tilewright.proof.kernel.points import ThreadPoint
from tilewright.proof.smtlib import script
from tilewright.proof.solver import Solver


@dataclass(frozen=True)
class Question:
    """Conditions of a race for one order of the steps of two accesses."""

    pair: Pair
    formulas: Sequence[Formula]
    subscripts: Sequence[AffineExpr]

    @property
    def shown(self) -> dict[str, AffineExpr]:
        """Expressions that a race shows, by name."""
        element = {f"subscript {n}": expr for n, expr in enumerate(self.subscripts)}
        return {**self.pair.first.shown, **self.pair.second.shown, **element}

    @property
    def is_of_data(self) -> bool:
        """True if a condition or an index is data."""
        return self.pair.first.is_of_data or self.pair.second.is_of_data


@dataclass(frozen=True)
class Race(Obligation):
    """Statement that no question has a point: two accesses do not race."""

    questions: Sequence[Question]

    def decide(self, solver: Solver) -> Answer:
        for question in self.questions:
            answer = self._decide(question, solver)
            if answer.outcome is not Outcome.PROVED:
                return answer
        return PROVED

    @staticmethod
    def _decide(question: Question, solver: Solver) -> Answer:
        names, formulas = question.pair.first.variables.names, question.formulas
        found = solver.find(names, formulas)
        if found.is_none:
            return PROVED
        text = script(names, formulas)
        if found.values is None:
            return Answer(Outcome.UNKNOWN, found.reason, text)
        if not holds(All(formulas), found.values):
            reason = "the solver's point does not satisfy the obligation"
            return Answer(Outcome.UNKNOWN, reason, text)
        point = point_text(question.shown, found.values)
        if question.is_of_data:
            reason = f"depends on data: it fails at {point}, if an input has this data"
            return Answer(Outcome.UNKNOWN, reason, text)
        return Answer(Outcome.REFUTED, point)


def race_obligations(function: FuncOp) -> Iterator[Obligation]:
    """Yield an obligation for each two accesses that barriers do not always order."""
    places = [place for op in function.walk() for place in places_of(op) if place.is_shared]
    for one, other in combinations_with_replacement(places, 2):
        if not (one.is_write or other.is_write) or not share(one.array, other.array):
            continue
        orders = [(one, other)] if one is other else [(one, other), (other, one)]
        questions = [each for first, second in orders for each in _questions(first, second)]
        if questions:
            subject = f"{one.subject} and {other.subject}"
            yield Race("race", subject, other.op, questions)
    yield from map(_before_end, (place for place in places if place.is_remote))
    yield from map(_arrives, (place for place in places if place.is_async))


def _before_end(place: Place) -> Obligation:
    """Return the obligation that a block does not end while another one reads its memory."""
    at = ThreadPoint(Variables(), place.op)
    facts, may_end = place.facts(at), unordered_at_end(place.op, at)
    return IntervalClaim(
        *("race", f"{place.subject} before its block ends", place.op),
        variables=at.variables,
        steps=[*at.steps, *facts],
        claim=Not(may_end),
        shown=at.shown,
    )


def _arrives(place: Place) -> Obligation:
    """Return the obligation that a copy arrives before the kernel ends."""
    at = ThreadPoint(Variables(), place.op)
    ops = path_to(place.op)[0].parent
    assert ops is not None
    waits = (arrived for op in reversed([*ops.ops]) for arrived in _arrived_after(op, at))
    is_in_flight = _none_for(Count(at, is_group).before(place.op), waits)
    return IntervalClaim(
        *("race", f"{place.subject} before the kernel ends", place.op),
        variables=at.variables,
        steps=at.steps,
        claim=Not(is_in_flight),
        shown=at.shown,
    )


def _questions(one: Place, other: Place) -> Iterator[Question]:
    """Yield the questions for a race of two accesses, where `one` is earlier than `other`."""
    is_of_cluster = one.is_remote or other.is_remote
    for pair in pairs_of(one.op, other.op, is_of_cluster=is_of_cluster):
        # A block that leaves values for others has waited for its copies to the same bytes.
        waits = one.is_async and not is_of_cluster
        unordered = _in_flight(one, other, pair) if waits else pair.unordered
        if unordered == NEVER:
            continue
        first, second = pair.first, pair.second
        mine, theirs = one.subscripts(first), other.subscripts(second)
        common = one.overlap(mine, other, theirs) if one.array is other.array else []
        apart = _differ(one, other, pair)
        facts = [*one.facts(first), *other.facts(second)]
        formulas = [*pair.facts, *facts, *common, apart, unordered]
        if not any(is_never(formula, first.variables.ranges) for formula in formulas):
            yield Question(pair, [*first.steps, *second.steps, *formulas], mine)


def _differ(one: Place, other: Place, pair: Pair) -> Formula:
    """Return the condition that two accesses are not one, or one thread's in its own order."""
    first, second = pair.first, pair.second
    if one.is_remote or other.is_remote:
        return _in_cluster(one, other, pair)
    is_other_thread = Not(IsZero(first.thread - second.thread))
    if not one.is_async:
        return is_other_thread
    if one.op is not other.op or not pair.is_one_step:
        return All(())
    steps = [value for value in first.counters if isinstance(value, BlockArgument)]
    is_one_step = equal([first.counters[v] for v in steps], [second.counters[v] for v in steps])
    return either([is_other_thread, Not(is_one_step)])


def _in_cluster(one: Place, other: Place, pair: Pair) -> Formula:
    """Return that an access to the memory of another block is to the other access's block."""
    function = path_to(one.op)[0].parent_op()
    assert isinstance(function, FuncOp)
    size, conditions = function.blocks_in_cluster, list[Formula]()
    first, second = pair.first, pair.second
    conditions.append(IsZero(first.block // size - second.block // size))
    conditions.append(Not(IsZero(first.block - second.block)))
    for place, mine, theirs in ((one, first, second), (other, second, first)):
        if isinstance(remote := place.memref.owner, RemoteOp):
            rank = mine.index(remote.rank)
            conditions.append(IsZero(rank % size - theirs.block % size))
    return All(tuple(conditions))


def _in_flight(one: Place, other: Place, pair: Pair) -> Formula:
    """Return the condition that no wait before the second access is for the copies of the first."""
    group = Count(pair.first, is_group).before(one.op)
    return _none_for(group, _arrived(other.op, pair.second))


def _none_for(group: AffineExpr, waits: Iterable["_Arrived"]) -> Formula:
    """Return the condition that no wait is for a group of copies."""
    return both(
        Not(both([*facts, NonNegative(arrived - constant(1) - group)])) for facts, arrived in waits
    )


def is_group(op: Operation) -> bool:
    """True if the op ends a group of asynchronous copies."""
    return isinstance(op, RingCommitOp) and _transport(op) is Transport.CP_ASYNC


def _transport(op: FillOp) -> Transport:
    assert isinstance(op.ring.type, RingType)
    return op.ring.type.transport.data


_Arrived = tuple[Sequence[Formula], AffineExpr]
"""Conditions under which a wait is executed, and number of groups of copies that arrived then."""


def _arrived(op: Operation, at: ThreadPoint) -> Iterator[_Arrived]:
    """Yield how many groups of copies have arrived after each wait before `op`."""
    for inner in path_to(op):
        for earlier in before(inner):
            yield from _arrived_after(earlier, at)


def _arrived_after(op: Operation, at: ThreadPoint) -> Iterator[_Arrived]:
    match op:
        case RingWaitOp() if _transport(op) is Transport.CP_ASYNC:
            yield [], Count(at, is_group).before(op) - constant(op.pending.value.data)
        case scf.ForOp() if any(isinstance(each, RingWaitOp) for each in op.body.block.ops):
            low, last = at.index(op.lb), at.index(op.ub) - constant(1)
            inside = at.having({op.body.block.args[0]: last})
            for inner in op.body.block.ops:
                for facts, arrived in _arrived_after(inner, inside):
                    yield [NonNegative(last - low), *facts], arrived
        case _:
            return
