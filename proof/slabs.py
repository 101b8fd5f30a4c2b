# SPDX-License-Identifier: Apache-2.0
"""
Obligations of slabs, with their pads, deals, pieces and swizzles:

* `slab`: every element is within the slab's memory, and no two elements share a place;
* `swizzle`: the swizzle permutes the places of the elements;
* `ring`: a slot that is filled ahead is not the slot that is read.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.ir import OpResult

from tilewright.dialects.tile import ShareOp, SlabLayoutAttr, StageOp, layout_of
from tilewright.dialects.types import memref_type, size_of
from tilewright.proof.answer import PROVED, Answer, Obligation, Outcome
from tilewright.proof.claim import Claim
from tilewright.proof.formulas import IsZero, NonNegative, Not, Variables, below, equal, within
from tilewright.proof.points import name_of
from tilewright.proof.solver import Solver


def slab_obligations(op: StageOp | ShareOp) -> Iterator[Obligation]:
    """Yield the obligations of the layout of an op's slab."""
    type, subject, variables = memref_type(op.slab), _slab(op.slab), Variables()
    layout, shape = layout_of(type), type.get_shape()
    first = [variables.new(f"coordinate {n}", extent) for n, extent in enumerate(shape)]
    place, size = layout.offset(first, type), layout.size(type)
    yield Claim(
        *("slab", f"{subject} lies within {size} elements", op),
        variables=variables,
        steps=[within(first, shape)],
        claim=below(place, size),
        shown=variables.named(first) | {"place": place},
    )
    second = [variables.new(f"coordinate {n}'", extent) for n, extent in enumerate(shape)]
    yield Claim(
        *("slab", f"{subject} has a place for each element", op),
        variables=variables,
        steps=[within(first, shape), within(second, shape)],
        given=[equal([place], [layout.offset(second, type)])],
        claim=equal(first, second),
        shown=variables.named([*first, *second]) | {"place": place},
    )
    if layout.swizzle_bytes.data:
        yield Swizzle("swizzle", subject, op, layout, size, size_of(type.element_type))


def _slab(slab: OpResult) -> str:
    return f"slab {name_of(slab)}"


@dataclass(frozen=True)
class Swizzle(Obligation):
    """Statement that a swizzle permutes the places of a slab's elements; all are tried."""

    layout: SlabLayoutAttr
    size: int
    """Number of elements of the slab's memory."""
    element_bytes: int

    def decide(self, solver: Solver) -> Answer:
        moved = dict[int, int]()
        for place in range(self.size):
            byte = self.layout.swizzled(place * self.element_bytes)
            if not 0 <= byte <= (self.size - 1) * self.element_bytes:
                return Answer(Outcome.REFUTED, f"place = {place}, byte = {byte}")
            if byte in moved:
                point = f"place = {moved[byte]}, place' = {place}, byte = {byte}"
                return Answer(Outcome.REFUTED, point)
            moved[byte] = place
        return PROVED


def ring_obligations(op: StageOp) -> Iterator[Obligation]:
    """Yield the obligation of a ring: in each step, the slots in use are distinct."""
    if op.ring is None:
        return
    variables, ahead = Variables(), max(op.lookahead, 1)
    step, later = variables.new("step", ahead), variables.new("steps ahead", ahead)
    slot, filled = step % op.depth, (step + later) % op.depth
    yield Claim(
        *("ring", f"{_slab(op.slab)} fills no slot that is read", op),
        variables=variables,
        steps=[NonNegative(step), below(later - 1, ahead)],
        claim=Not(IsZero(slot - filled)),
        shown={**variables.named([step, later]), "slot": slot},
    )
