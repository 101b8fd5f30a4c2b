# SPDX-License-Identifier: Apache-2.0
"""
Obligations `ring` of the ops of a ring: fills are counted, and wait for each other.

* Waits, releases, and acquires of a TMA ring are for fills 0, 1, 2, ... in order. The parity of an
  mbarrier then distinguishes a fill from the previous one of its slot, which has been waited for.
* A slot is acquired after the release of its previous fill.
* A wait is for a fill that was committed before. With TMA, the fill was also acquired, and its
  boxes have the bytes of the ring.

Groups of `cp.async` copies, and the barriers that order them, are subject of obligation `race`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from xdsl.dialects import scf

from tilewright.dialects.kernel import (
    RingAcquireOp,
    RingCommitOp,
    RingOp,
    RingReleaseOp,
    RingWaitOp,
    TmaCopyOp,
)
from tilewright.dialects.kernel.ring import FillOp
from tilewright.dialects.tile import Transport
from tilewright.dialects.types import memref_type, size_of
from tilewright.proof.answer import PROVED, Answer, Obligation, Outcome
from tilewright.proof.formulas import IsZero, NonNegative, constant
from tilewright.proof.kernel.fills import Fill, depth_of, type_of
from tilewright.proof.points import name_of
from tilewright.proof.solver import Solver


def fill_obligations(op: FillOp) -> Iterator[Obligation]:
    """Yield the obligations of an op that concerns a fill."""
    fill, name = Fill(op.ring, op), name_of(op.ring)
    count, kind = fill.at.index(op.count), type(op)
    by_tma = type_of(op.ring).transport.data is Transport.TMA
    if isinstance(op, RingCommitOp):
        yield _committed(op)
    elif by_tma or not isinstance(op, RingAcquireOp):
        earlier = fill.number(kind)
        subject = f"order of each {_verb(kind)} of {name}"
        yield fill.claim(subject, IsZero(count - earlier), count=count, earlier=earlier)
    if isinstance(op, RingAcquireOp):
        yield from _acquired(op)
    if isinstance(op, RingWaitOp):
        yield from _awaited(op)


def _acquired(op: RingAcquireOp) -> Iterator[Obligation]:
    """Yield that the previous fill of a slot is released, and that later steps are left out."""
    fill, name = Fill(op.ring, op), name_of(op.ring)
    count, released = fill.at.index(op.count), fill.number(RingReleaseOp)
    depth = depth_of(op.ring)
    is_free = NonNegative(released + constant(depth - 1) - count)
    yield fill.claim(f"free slot of {name}", is_free, count=count, released=released)
    if isinstance(branch := op.parent_op(), scf.IfOp):
        yield from _monotone(branch, name)
    if type_of(op.ring).transport.data is Transport.TMA:
        yield Bytes("ring", f"bytes of a fill of {name}", op)


def _monotone(branch: scf.IfOp, name: str) -> Iterator[Obligation]:
    """Yield that a fill that is left out is the last one, in the loop around."""
    if not isinstance(loop := branch.parent_op(), scf.ForOp):
        return
    fill, counter = Fill(branch.cond, branch), loop.body.block.args[0]
    at = fill.at
    later = at.having({counter: at.index(counter) + 1}).condition(branch.cond)
    fill.given.append(later)
    yield fill.claim(f"no gap between fills of {name}", at.condition(branch.cond))


def _committed(op: RingCommitOp) -> Obligation:
    """
    Return the obligation that a commit leaves out no fill. Commits without copies may come between
    those of fills.
    """
    fill = Fill(op.ring, op)
    count, committed = fill.at.index(op.count), fill.number(RingCommitOp)
    subject = f"order of each commit of {name_of(op.ring)}"
    return fill.claim(subject, NonNegative(committed - count), count=count, committed=committed)


def _awaited(op: RingWaitOp) -> Iterator[Obligation]:
    """Yield that the fill of a wait was acquired, if TMA brings it, and committed before."""
    by_tma = type_of(op.ring).transport.data is Transport.TMA
    for kind in (RingAcquireOp, RingCommitOp) if by_tma else (RingCommitOp,):
        fill = Fill(op.ring, op)
        count, earlier = fill.at.index(op.count), fill.number(kind)
        verb, is_earlier = _verb(kind), NonNegative(earlier - constant(1) - count)
        subject = f"{verb} before each wait of {name_of(op.ring)}"
        yield fill.claim(subject, is_earlier, count=count, earlier=earlier)


def _verb(kind: type[FillOp]) -> str:
    return kind.name.removeprefix("kernel.ring_")


@dataclass(frozen=True)
class Bytes(Obligation):
    """Statement that the boxes of a fill have the bytes of the ring."""

    def decide(self, solver: Solver) -> Answer:
        assert isinstance(self.op, RingAcquireOp)
        ring = self.op.ring.owner
        assert isinstance(ring, RingOp)
        copies = [*_copies_after(self.op)]
        brought = sum(
            prod(int(extent) for extent in copy.box.get_values())
            * size_of(memref_type(copy.source).element_type)
            for copy in copies
        )
        if any(copy.count is not self.op.count for copy in copies):
            return Answer(Outcome.REFUTED, "a box is copied for another fill")
        if brought != (expected := ring.bytes.value.data):
            return Answer(Outcome.REFUTED, f"boxes have {brought} bytes, the fill {expected}")
        return PROVED


def _copies_after(op: RingAcquireOp) -> Iterator[TmaCopyOp]:
    after = op.next_op
    while after is not None and not isinstance(after, RingCommitOp):
        if isinstance(after, TmaCopyOp) and after.ring is op.ring:
            yield after
        after = after.next_op
