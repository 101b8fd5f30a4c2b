# SPDX-License-Identifier: Apache-2.0
"""
Obligations `reached` of ops for which threads wait: if one thread reaches the op, so do all others.

    %first = loop.predicate [31 - %t] : i1
    scf.if %first {
      kernel.barrier      refuted in a block of 64 threads: %t = 0, %t' = 32
    }

A barrier waits for the threads of the block, a shuffle or a matrix instruction for the lanes of
the warp. A named barrier waits for the threads with its id, which have to be as many as it counts.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from xdsl.dialects import scf
from xdsl.ir import BlockArgument, Operation, SSAValue

from tilewright.dialects.kernel import (
    ArriveOp,
    ClusterArriveOp,
    ClusterWaitOp,
    GroupCommitOp,
    GroupFenceOp,
    GroupMultiplyOp,
    GroupWaitOp,
    LoadMatrixOp,
    MatrixMultiplyOp,
    NamedBarrierOp,
    ShuffleOp,
    WarpBarrierOp,
    function_of,
)
from tilewright.dialects.matrix_instruction import GROUP_THREADS
from tilewright.dialects.target import WARP_SIZE
from tilewright.proof.answer import PROVED, Answer, Obligation, Outcome
from tilewright.proof.formulas import All, Formula, IsZero, Not, Some, Variables
from tilewright.proof.kernel.intervals import IntervalClaim
from tilewright.proof.kernel.points import ThreadPoint, surroundings
from tilewright.proof.points import NotCoveredError
from tilewright.proof.solver import Solver

_OF_WARPGROUPS = (GroupFenceOp, GroupMultiplyOp, GroupCommitOp, GroupWaitOp)
_OF_WARPS = (WarpBarrierOp, ShuffleOp, LoadMatrixOp, MatrixMultiplyOp)


def reached_obligations(op: Operation) -> Iterator[Obligation]:
    """Yield that all threads for which `op` waits reach it, if one does."""
    if isinstance(op, NamedBarrierOp):
        yield Group("reached", "threads of a named barrier", op)
    if len(surroundings(op)) < 2:  # directly in the kernel
        return
    variables = Variables()
    first = ThreadPoint(variables, op)
    common = {value: expr for value, expr in first.counters.items() if _is_common(value)}
    second = ThreadPoint(variables, op, "'", common, first.block)
    together = _together(op, first, second)
    yield IntervalClaim(
        *("reached", f"threads at {op.name}", op),
        variables=variables,
        steps=[*first.steps, *second.facts],
        given=together,
        claim=All(second.guards),
        shown={**first.shown, **second.shown},
        is_of_data=first.is_of_data or second.is_of_data,
    )


def _is_common(value: SSAValue) -> bool:
    """True if an index or a condition is the same in all threads that are compared."""
    return isinstance(value, BlockArgument) or isinstance(value.owner, ArriveOp)


def _together(op: Operation, first: ThreadPoint, second: ThreadPoint) -> list[Formula]:
    """Return the conditions under which one thread waits for the other."""
    if isinstance(op, NamedBarrierOp):
        return [IsZero(first.index(op.id) - second.index(op.id))]
    if isinstance(op, _OF_WARPGROUPS):
        return [IsZero(first.thread // GROUP_THREADS - second.thread // GROUP_THREADS)]
    if isinstance(op, _OF_WARPS):
        return [IsZero(first.thread // WARP_SIZE - second.thread // WARP_SIZE)]
    return []


def arrival_obligations(op: ClusterWaitOp) -> Iterator[Obligation]:
    """Yield that each thread has arrived once when it waits for the cluster."""
    yield from reached_obligations(op)
    function, variables = function_of(op), Variables()
    at = ThreadPoint(variables, op)
    if sum(isinstance(each, ClusterWaitOp) for each in function.walk()) > 1:
        raise NotCoveredError("several kernel.cluster_wait")
    arrivals = [
        _executed(each, at) for each in function.walk() if isinstance(each, ClusterArriveOp)
    ]
    once = [Not(All(pair)) for pair in combinations(arrivals, 2)]
    yield IntervalClaim(
        *("reached", "one arrival before kernel.cluster_wait", op),
        variables=variables,
        steps=at.steps,
        claim=All([Some(arrivals), *once]),
        shown=at.shown,
        is_of_data=at.is_of_data,
    )


def _executed(op: Operation, at: ThreadPoint) -> Formula:
    """Return the condition that a thread executes an op in branches of its kernel."""
    conditions = list[Formula]()
    for parent, inner in surroundings(op)[:-1]:
        if not isinstance(parent, scf.IfOp):
            raise NotCoveredError(f"{op.name} in {parent.name}")
        condition = at.condition(parent.cond)
        is_then = inner.parent is parent.true_region.block
        conditions.append(condition if is_then else Not(condition))
    return All(conditions)


@dataclass(frozen=True)
class Group(Obligation):
    """Statement that a named barrier counts the threads with its id; all threads are tried."""

    def decide(self, solver: Solver) -> Answer:
        assert isinstance(self.op, NamedBarrierOp)
        variables = Variables()
        at = ThreadPoint(variables, self.op)
        number, threads = at.index(self.op.id), function_of(self.op).block.value.data
        if not number.used_dims() <= at.thread.used_dims():
            return Answer(Outcome.UNKNOWN, "the id depends on more than the thread")
        point = [0] * len(variables.names)
        (position,) = at.thread.used_dims()
        ids = Counter(
            number.eval([*point[:position], thread, *point[position + 1 :]], ())
            for thread in range(threads)
        )
        for name, count in ids.items():
            if count != (expected := self.op.threads.value.data):
                reason = f"{count} threads have the id {name}, the barrier counts {expected}"
                return Answer(Outcome.REFUTED, reason)
        return PROVED
