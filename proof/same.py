# SPDX-License-Identifier: Apache-2.0
"""
Obligations `same`: a kernel of Tile IR stores exactly the values of its loop nest in Loop IR.

A value is a term: ops on elements of inputs, and joins of terms. Sums may be in another order,
therefore this is equality over the real numbers, not of floating-point numbers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from tilewright.dialects.loop import KernelOp, StoreOp
from tilewright.dialects.types import memref_type
from tilewright.proof.answer import PROVED, Answer, Obligation, Outcome
from tilewright.proof.distinct import distinct_stores
from tilewright.proof.formulas import Variables
from tilewright.proof.matching import Matching, UnprovedError
from tilewright.proof.points import Point, name_of
from tilewright.proof.scope import Scope, UnmatchedError
from tilewright.proof.seen import Joined
from tilewright.proof.solver import Solver
from tilewright.proof.term_pairs import Read


def same_obligations(tile: KernelOp, nest: KernelOp) -> Iterator[Obligation]:
    """Yield an obligation for each output of two kernels with equal arguments."""
    for output in tile.outputs:
        yield Same("same", f"values of {name_of(output)}", tile, nest, output.index)


@dataclass(frozen=True)
class Same(Obligation):
    """Statement that the kernel `op` stores the values of `nest` to an output."""

    nest: KernelOp
    output: int
    """Position of the output among the buffers."""

    def decide(self, solver: Solver) -> Answer:
        tile = self.op
        assert isinstance(tile, KernelOp)
        stores, old = (_stores(kernel, self.output) for kernel in (tile, self.nest))
        if len(stores) != len(old):
            reason = f"{len(stores)} stores against {len(old)} of the nest"
            return Answer(Outcome.UNKNOWN, reason)
        for obligation in distinct_stores(old):
            if (answer := obligation.decide(solver)).outcome is not Outcome.PROVED:
                return Answer(Outcome.UNKNOWN, f"the nest stores twice: {answer.evidence}")
        buffers: dict[SSAValue, SSAValue] = dict(zip(tile.buffers, self.nest.buffers, strict=True))
        is_partial = tile.is_updated(tile.buffers[self.output])
        try:
            for ours, theirs in zip(stores, old, strict=True):
                matching = Matching(tile, Variables(), buffers, is_partial, solver)
                _match(ours, theirs, matching)
        except UnmatchedError as err:
            return Answer(Outcome.UNKNOWN, str(err))
        except UnprovedError as err:
            return err.answer
        return PROVED


def _stores(kernel: KernelOp, output: int) -> Sequence[StoreOp]:
    memref = kernel.buffers[output]
    return [op for op in kernel.walk() if isinstance(op, StoreOp) and op.memref is memref]


def _match(new: StoreOp, old: StoreOp, matching: Matching) -> None:
    """Prove that each step of `new` stores what the step of `old` stores to the same element."""
    ours, theirs = _stored(new, matching, ""), _stored(old, matching, "*")
    access, other = (new.map.data.results, new.indices), (old.map.data.results, old.indices)
    shape = memref_type(old.memref).get_shape()
    read = Read(ours.scope.exprs(access), theirs.scope.exprs(other), shape)
    matching.match(ours, theirs, (), read)


def _stored(op: StoreOp, matching: Matching, mark: str) -> Joined:
    """Return the value of a store as the only term of each step of the axes around it."""
    first = len(matching.variables.names)
    at = Point(matching.variables, op, mark)
    scope = Scope(matching.variables, at.axes, mark)
    axes = range(first, len(matching.variables.names))
    return Joined(None, [op.value], scope, axes, [*at.steps, *scope.holds(op.where)])
