# SPDX-License-Identifier: Apache-2.0
"""
Obligations of multiplications by warpgroups:

* those of accesses (`accesses.py`), for the matrices of A and B and for the sums;
* `reached`: all threads of a warpgroup execute the op;
* `uniform`: they give equal subscripts of A and B;
* `aligned`: matrices begin where the pattern of the swizzle begins, which descriptors need;
* `waited`: a fence comes before a multiplication and a wait after it, with nothing between them
  that accesses memory or meets other threads. Slabs are therefore read, and sums written, at the
  place of the multiplication.
* `proxy`: nothing but a fence is between the fence for tensor cores and the multiplications, where
  threads fill a slab.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, scf
from xdsl.ir import Operation

from tilewright.dialects.kernel import IndexOp, TmaCopyOp, UnrollOp
from tilewright.dialects.kernel.matrix_descriptor import MatrixDescriptor
from tilewright.dialects.kernel.warpgroup import (
    GroupCommitOp,
    GroupFactor,
    GroupFenceOp,
    GroupMultiplyOp,
    GroupWaitOp,
    ProxyFenceOp,
)
from tilewright.dialects.matrix_instruction import GROUP_THREADS
from tilewright.proof.answer import PROVED, Answer, Obligation, Outcome
from tilewright.proof.formulas import All, Formula, IsZero, Variables
from tilewright.proof.kernel.accesses import access_obligations
from tilewright.proof.kernel.intervals import IntervalClaim
from tilewright.proof.kernel.points import ThreadPoint
from tilewright.proof.kernel.reached import reached_obligations
from tilewright.proof.points import name_of
from tilewright.proof.solver import Solver

_NEUTRAL = (arith.ConstantOp, IndexOp, scf.YieldOp)
"""Ops that access no memory and meet no threads."""


def multiply_obligations(op: GroupMultiplyOp) -> Iterator[Obligation]:
    """Yield the obligations of a multiplication."""
    yield from access_obligations(op)
    yield from reached_obligations(op)
    for factor in op.factors():
        yield _uniform(op, factor)
        yield _aligned(op, factor)
    yield Waited("waited", "sums and slabs of a multiplication", op)


def _uniform(op: GroupMultiplyOp, factor: GroupFactor) -> Obligation:
    """Return the obligation that the threads of a warpgroup have equal subscripts."""
    variables = Variables()
    first = ThreadPoint(variables, op)
    second = ThreadPoint(variables, op, "'", first.counters, first.block)
    access = factor.map.data.results, factor.indices
    pairs = zip(first.exprs(access), second.exprs(access), strict=True)
    together: list[Formula] = [
        IsZero(first.thread // GROUP_THREADS - second.thread // GROUP_THREADS)
    ]
    return IntervalClaim(
        *("uniform", f"matrix in {name_of(factor.memref)}", op),
        variables=variables,
        steps=[*first.steps, *second.facts],
        given=together,
        claim=All([IsZero(one - other) for one, other in pairs]),
        shown={**first.shown, **second.shown},
        is_of_data=first.is_of_data or second.is_of_data,
    )


def _aligned(op: GroupMultiplyOp, factor: GroupFactor) -> Obligation:
    """Return the obligation that a matrix begins where its swizzle begins."""
    at = ThreadPoint(Variables(), op)
    subscripts = at.exprs((factor.map.data.results, factor.indices))
    descriptor = factor.descriptor
    assert isinstance(descriptor, MatrixDescriptor)
    multiples = zip(factor.axes, (descriptor.first_multiple, op.k), strict=True)
    return IntervalClaim(
        *("aligned", f"matrix in {name_of(factor.memref)}", op),
        variables=at.variables,
        steps=at.steps,
        claim=All([IsZero(subscripts[axis] % multiple) for axis, multiple in multiples]),
        shown=at.shown | {f"subscript {n}": expr for n, expr in enumerate(subscripts)},
        is_of_data=at.is_of_data,
    )


@dataclass(frozen=True)
class Waited(Obligation):
    """
    Statement that a fence precedes a multiplication, and a wait for it follows, at once. If threads
    fill a slab, a fence for tensor cores precedes both.
    """

    def decide(self, solver: Solver) -> Answer:
        assert isinstance(self.op, GroupMultiplyOp)
        outer = _outermost(self.op)
        before, after = _run(outer, backward=True), _run(outer, backward=False)
        if not any(isinstance(op, GroupFenceOp) for op in before):
            return Answer(Outcome.REFUTED, "no kernel.group_fence comes at once before it")
        if any(map(_is_written_by_threads, self.op.factors())) and not any(
            isinstance(op, ProxyFenceOp) for op in before
        ):
            return Answer(Outcome.REFUTED, "no kernel.proxy_fence comes at once before it")
        order = [type(op) for op in after if isinstance(op, GroupCommitOp | GroupWaitOp)]
        waits = [op for op in after if isinstance(op, GroupWaitOp)]
        if order[:2] != [GroupCommitOp, GroupWaitOp] or waits[0].pending.value.data:
            return Answer(Outcome.REFUTED, "no kernel.group_wait 0 for it comes at once after it")
        return PROVED


def _outermost(op: Operation) -> Operation:
    """Return the outermost loop around `op` that does nothing else but multiply, or `op`."""
    while isinstance(parent := op.parent_op(), scf.ForOp | UnrollOp) and _only_multiplies(parent):
        op = parent
    return op


def _only_multiplies(op: Operation) -> bool:
    """True if nothing in an op but multiplications accesses memory or meets threads."""
    if isinstance(op, scf.ForOp | UnrollOp):
        return all(_only_multiplies(each) for each in op.body.block.ops)
    return isinstance(op, (*_NEUTRAL, GroupMultiplyOp))


def _run(op: Operation, *, backward: bool) -> Sequence[Operation]:
    """Return the ops before or after `op` up to one that could disturb a multiplication."""
    found: list[Operation] = []
    at = op.prev_op if backward else op.next_op
    fences = (GroupFenceOp, ProxyFenceOp) if backward else (GroupCommitOp, GroupWaitOp)
    while at is not None and (isinstance(at, fences) or _only_multiplies(at)):
        found.append(at)
        at = at.prev_op if backward else at.next_op
    return found


def _is_written_by_threads(factor: GroupFactor) -> bool:
    """True unless TMA alone fills a slab."""
    users = [use.operation for use in factor.memref.uses]
    others = [user for user in users if not isinstance(user, GroupMultiplyOp)]
    return not all(isinstance(user, TmaCopyOp) for user in others)
