# SPDX-License-Identifier: Apache-2.0
"""
Obligations `ring`: fills of a ring are counted, and each is read in its slot while it is there.

* Waits, releases, and acquires of a TMA ring are for fills 0, 1, 2, ... in order. The parity of an
  mbarrier then distinguishes a fill from the previous one of its slot, which has been waited for.
* A slot is acquired after the release of its previous fill.
* Copies of a fill go to the slot `count mod depth`.
* A slot is read between the wait for its fill and the release.
* A wait is for a fill that was committed before. With TMA, the fill was also acquired, and its
  boxes have the bytes of the ring.

Groups of `cp.async` copies, and the barriers that order them, are subject of obligation `race`.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects import scf
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects.axes import Access
from tilewright.dialects.kernel import (
    FuncOp,
    RingAcquireOp,
    RingCommitOp,
    RingOp,
    RingReleaseOp,
    RingWaitOp,
    TmaCopyOp,
)
from tilewright.dialects.kernel.ring import FillOp, RingType
from tilewright.dialects.tile import Transport, layout_of
from tilewright.dialects.types import memref_type, size_of
from tilewright.proof.answer import PROVED, Answer, Obligation, Outcome
from tilewright.proof.formulas import All, Formula, IsZero, NonNegative, Some, Variables, constant
from tilewright.proof.kernel.counting import Count, before
from tilewright.proof.kernel.intervals import IntervalClaim
from tilewright.proof.kernel.ordering import path_to
from tilewright.proof.kernel.places import Place, places_of, share
from tilewright.proof.kernel.points import ThreadPoint
from tilewright.proof.points import name_of
from tilewright.proof.solver import Solver


class _Fill:
    """Point at an op of a ring, with the numbers of fills at it."""

    def __init__(self, ring: SSAValue, op: Operation):
        self.ring, self.op = ring, op
        self.at = ThreadPoint(Variables(), op)
        self.given = list[Formula]()

    def number(self, kind: type[FillOp], ops: Iterable[Operation] | None = None) -> AffineExpr:
        """Return the number of ops of one type for the ring: before this point, or in `ops`."""
        count = Count(self.at, lambda op: isinstance(op, kind) and op.ring is self.ring)
        number = count.before(self.op) if ops is None else count.in_all(ops)
        return number

    def claim(self, subject: str, claim: Formula, **shown: AffineExpr) -> Obligation:
        """Return an obligation at this point."""
        return IntervalClaim(
            *("ring", subject, self.op),
            variables=self.at.variables,
            steps=self.at.steps,
            given=self.given,
            claim=claim,
            shown={**self.at.shown, **shown},
            is_of_data=self.at.is_of_data,
            first=self.at.first,
        )


def fill_obligations(op: FillOp) -> Iterator[Obligation]:
    """Yield the obligations of an op that concerns a fill."""
    fill, name = _Fill(op.ring, op), name_of(op.ring)
    count, kind = fill.at.index(op.count), type(op)
    by_tma = _type(op.ring).transport.data is Transport.TMA
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
    fill, name = _Fill(op.ring, op), name_of(op.ring)
    count, released = fill.at.index(op.count), fill.number(RingReleaseOp)
    depth = _depth(op.ring)
    is_free = NonNegative(released + constant(depth - 1) - count)
    yield fill.claim(f"free slot of {name}", is_free, count=count, released=released)
    if isinstance(branch := op.parent_op(), scf.IfOp):
        yield from _monotone(branch, name)
    if _type(op.ring).transport.data is Transport.TMA:
        yield Bytes("ring", f"bytes of a fill of {name}", op)


def _monotone(branch: scf.IfOp, name: str) -> Iterator[Obligation]:
    """Yield that a fill that is left out is the last one, in the loop around."""
    if not isinstance(loop := branch.parent_op(), scf.ForOp):
        return
    fill, counter = _Fill(branch.cond, branch), loop.body.block.args[0]
    at = fill.at
    later = at.having({counter: at.index(counter) + 1}).condition(branch.cond)
    fill.given.append(later)
    yield fill.claim(f"no gap between fills of {name}", at.condition(branch.cond))


def _committed(op: RingCommitOp) -> Obligation:
    """
    Return the obligation that a commit leaves out no fill. Commits without copies may come between
    those of fills.
    """
    fill = _Fill(op.ring, op)
    count, committed = fill.at.index(op.count), fill.number(RingCommitOp)
    subject = f"order of each commit of {name_of(op.ring)}"
    return fill.claim(subject, NonNegative(committed - count), count=count, committed=committed)


def _awaited(op: RingWaitOp) -> Iterator[Obligation]:
    """Yield that the fill of a wait was acquired, if TMA brings it, and committed before."""
    by_tma = _type(op.ring).transport.data is Transport.TMA
    for kind in (RingAcquireOp, RingCommitOp) if by_tma else (RingCommitOp,):
        fill = _Fill(op.ring, op)
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


def slot_obligations(function: FuncOp) -> Iterator[Obligation]:
    """
    Yield that the slabs of rings are filled and read in the slots of their fills, and that other
    arrays in their bytes are accessed after all fills of TMA.
    """
    places = [place for op in function.walk() for place in places_of(op) if place.is_shared]
    boxes = [op for op in function.walk() if isinstance(op, TmaCopyOp)]
    rings: dict[SSAValue, SSAValue] = {op.target: op.ring for op in boxes}
    for place in places:
        acquire = _acquire_of(place.op) if place.is_write and _has_slots(place) else None
        if acquire is not None:
            rings.setdefault(place.array, acquire.ring)
            yield _filled(_Fill(acquire.ring, place.op), place.access, acquire.count, place.memref)
    for op in boxes:
        slot = [AffineExpr.dimension(0)], [op.slot]
        yield _filled(_Fill(op.ring, op), slot, op.count, op.target)
        if len([op for op in path_to(op) if isinstance(op, scf.ForOp)]) < 2:
            yield _before_commit(op)
    for ring in dict.fromkeys(op.ring for op in boxes):
        yield _all_awaited(function, ring)
    for place in places:
        if not place.is_write and place.array in rings:
            yield _read(place, rings[place.array])
        yield from _after_boxes(place, boxes)


def _has_slots(place: Place) -> bool:
    return layout_of(place.type).has_slots


def _acquire_of(op: Operation) -> RingAcquireOp | None:
    """Return the acquire before a write in the same step of the loop that waits for fills."""
    for inner in reversed(path_to(op)):
        before = inner.prev_op
        while before is not None:
            if isinstance(before, RingAcquireOp):
                return before
            before = before.prev_op
        around = inner.parent_op()
        if isinstance(around, scf.ForOp) and _waits(around):
            return None
    return None


def _waits(loop: scf.ForOp) -> bool:
    return any(isinstance(op, RingWaitOp) for op in loop.body.block.ops)


def _filled(fill: _Fill, access: Access, count: SSAValue, slab: SSAValue) -> Obligation:
    """Return the obligation that a fill is written to its slot."""
    slot, number = fill.at.exprs(access)[0], fill.at.index(count)
    claim = IsZero(slot - number % _depth(fill.ring))
    return fill.claim(f"slot of a write to {name_of(slab)}", claim, slot=slot, count=number)


def _before_commit(op: TmaCopyOp) -> Obligation:
    """Return the obligation that a box is copied before the commit of its fill, in one loop."""
    fill = _Fill(op.ring, op)
    count, committed = fill.at.index(op.count), fill.number(RingCommitOp)
    subject = f"commit after the box of {name_of(op.target)}"
    return fill.claim(subject, NonNegative(count - committed), count=count, committed=committed)


def _all_awaited(function: FuncOp, ring: SSAValue) -> Obligation:
    """Return the obligation that all fills of TMA have arrived when the kernel ends."""
    assert isinstance(ring.owner, RingOp)
    fill, ops = _Fill(ring, ring.owner), function.body.block.ops
    acquired, awaited = (fill.number(kind, ops) for kind in (RingAcquireOp, RingWaitOp))
    subject = f"all fills of {name_of(ring)} are awaited"
    return fill.claim(subject, IsZero(acquired - awaited), acquired=acquired, awaited=awaited)


def _read(place: Place, ring: SSAValue) -> Obligation:
    """Return the obligation that a slot is read between the wait for its fill and the release."""
    fill, depth = _Fill(ring, place.op), _depth(ring)
    awaited, released = fill.number(RingWaitOp), fill.number(RingReleaseOp)
    slot = place.subscripts(fill.at)[0]
    fill.given += place.facts(fill.at)
    fills = [released + ahead for ahead in range(depth)]
    claim = Some(
        [All((NonNegative(awaited - constant(1) - n), IsZero(slot - n % depth))) for n in fills]
    )
    shown = {"slot": slot, "awaited": awaited, "released": released}
    return fill.claim(f"slot of a read of {name_of(place.memref)}", claim, **shown)


def _after_boxes(place: Place, boxes: Sequence[TmaCopyOp]) -> Iterator[Obligation]:
    """Yield for each ring of TMA in the bytes of another array that all its fills have arrived."""
    found = [op for op in boxes if op.target is not place.array and share(op.target, place.array)]
    for ring in dict.fromkeys(op.ring for op in found):
        last = max(_position(op) for op in found if op.ring is ring)
        fill = _Fill(ring, place.op)
        subject = f"{place.subject} after all fills of {name_of(ring)}"
        if last >= _position(place.op):
            yield fill.claim(subject, Some(()))
            continue
        acquired, awaited = fill.number(RingAcquireOp), fill.number(RingWaitOp)
        are_awaited = IsZero(acquired - awaited)
        yield fill.claim(subject, are_awaited, acquired=acquired, awaited=awaited)


def _position(op: Operation) -> int:
    """Return the number of the op in the kernel that is or contains `op`."""
    (outermost, *_) = path_to(op)
    return sum(1 for _ in before(outermost))


def _type(ring: SSAValue) -> RingType:
    assert isinstance(ring.type, RingType)
    return ring.type


def _depth(ring: SSAValue) -> int:
    return _type(ring).depth.data
