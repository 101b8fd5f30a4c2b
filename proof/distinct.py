# SPDX-License-Identifier: Apache-2.0
"""
Obligations `injective`: two steps store to distinct elements of an output or of a shared slab, or
they store one value.

Blocks that joined their sums store one value, for example: it does not vary along their axis.
"""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from xdsl.ir import SSAValue

from tilewright.dialects.loop import StoreOp
from tilewright.dialects.tile import LaunchOp, ShareOp, value_varies_along
from tilewright.proof.answer import PROVED, Answer, Obligation, Outcome
from tilewright.proof.claim import Claim
from tilewright.proof.equal_values import equal_value
from tilewright.proof.formulas import Formula, Some, Variables, equal
from tilewright.proof.points import Point, name_of
from tilewright.proof.solver import Solver


def distinct_stores(
    stores: Sequence[StoreOp], launch: LaunchOp | None = None
) -> Iterator[Obligation]:
    """
    Yield an obligation for each store to an output, and for each pair of stores; without a launch,
    the stores are those of a loop nest.
    """
    for number, store in enumerate(stores):
        for other in stores[: number + 1]:
            yield _pair(store, other, _free_axes(store, launch))


@dataclass(frozen=True)
class Stores(Obligation):
    """Statement that two steps that store to one element are one step, or store one value."""

    steps: Claim
    """Claim that they are one step, but for axes along which the value does not vary."""
    first: Point
    second: Point

    def decide(self, solver: Solver) -> Answer:
        answer = self.steps.decide(solver)
        if answer.outcome is Outcome.PROVED or not self._may_be_equal():
            return answer
        assert isinstance(self.op, StoreOp)
        is_equal = equal_value(self.op.value, self.first, self.second)
        values = replace(self.steps, claim=is_equal)
        return PROVED if values.decide(solver).outcome is Outcome.PROVED else answer

    def _may_be_equal(self) -> bool:
        """True if no value is computed from the output, which another step may have stored."""
        assert isinstance(self.op, StoreOp)
        users = [use.operation for use in self.op.memref.uses]
        return all(isinstance(user, StoreOp) and user.value is self.op.value for user in users)


def _pair(store: StoreOp, other: StoreOp, free: AbstractSet[SSAValue]) -> Obligation:
    variables = Variables()
    first, second = Point(variables, store), Point(variables, other, "'")
    elements = [
        at.exprs((op.map.data.results, op.indices)) for at, op in ((first, store), (second, other))
    ]
    masks = [*first.holds(store.where), *second.holds(other.where)]
    axes = [axis for axis in first.axes if axis not in free]
    subscripts = {f"subscript {n}": expr for n, expr in enumerate(elements[0])}
    claim = Claim(
        *("injective", f"stores to {name_of(store.memref)}", store),
        variables=variables,
        steps=[*first.facts, *second.facts, *masks],
        given=[equal(*elements)],
        claim=_equal(first, second, axes) if store is other else Some(()),
        shown={**first.shown(), **second.shown(), **subscripts},
        is_of_data=bool(first.data or second.data),
    )
    return Stores(claim.kind, claim.subject, store, claim, first, second)


def _free_axes(store: StoreOp, launch: LaunchOp | None) -> AbstractSet[SSAValue]:
    """Return the axes whose steps may store to one element, because they store one value."""
    if launch is None:
        return set[SSAValue]()
    threads: set[SSAValue] = {axis.value for axis in launch.thread_axes()}
    bound: set[SSAValue] = {axis.value for axis in launch.bound_axes()}
    return bound - threads - value_varies_along(store.value, {})


def distinct_shares(op: ShareOp) -> Obligation:
    """Return the obligation that, in one step of the other axes, each element is shared once."""
    variables = Variables()
    first, second = Point(variables, op), Point(variables, op, "'")
    named = [axis for axis in first.axes if axis in op.indices]
    others = [axis for axis in first.axes if axis not in op.indices]
    access = op.map.data.results, op.indices
    return Claim(
        *("injective", f"shares in {name_of(op.slab)}", op),
        variables=variables,
        steps=[*first.facts, *second.facts, _equal(first, second, others)],
        given=[equal(first.exprs(access), second.exprs(access))],
        claim=_equal(first, second, named),
        shown={**first.shown(), **second.shown()},
    )


def _equal(first: Point, second: Point, axes: Sequence[SSAValue]) -> Formula:
    return equal([first.axes[axis] for axis in axes], [second.axes[axis] for axis in axes])
