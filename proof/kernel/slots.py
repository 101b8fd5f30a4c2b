# SPDX-License-Identifier: Apache-2.0
"""
Obligations `ring` of the slabs of a ring: each fill is in its slot while it is there.

* Copies of fill `count` go to the slot `count mod depth`.
* A slot is read between the wait for its fill and the release.
* Boxes of TMA are copied before the commit of their fill, and have arrived when the kernel ends.
* Other arrays in the bytes of a slab are accessed after all fills of TMA.
"""

from collections.abc import Iterator, Sequence

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
from tilewright.dialects.tile import layout_of
from tilewright.proof.answer import Obligation
from tilewright.proof.formulas import All, IsZero, NonNegative, Some, constant
from tilewright.proof.kernel.counting import before
from tilewright.proof.kernel.fills import Fill, depth_of
from tilewright.proof.kernel.ordering import path_to
from tilewright.proof.kernel.places import Place, places_of, share
from tilewright.proof.points import name_of


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
            yield _filled(Fill(acquire.ring, place.op), place.access, acquire.count, place.memref)
    for op in boxes:
        slot = [AffineExpr.dimension(0)], [op.slot]
        yield _filled(Fill(op.ring, op), slot, op.count, op.target)
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


def _filled(fill: Fill, access: Access, count: SSAValue, slab: SSAValue) -> Obligation:
    """Return the obligation that a fill is written to its slot."""
    slot, number = fill.at.exprs(access)[0], fill.at.index(count)
    claim = IsZero(slot - number % depth_of(fill.ring))
    return fill.claim(f"slot of a write to {name_of(slab)}", claim, slot=slot, count=number)


def _before_commit(op: TmaCopyOp) -> Obligation:
    """Return the obligation that a box is copied before the commit of its fill, in one loop."""
    fill = Fill(op.ring, op)
    count, committed = fill.at.index(op.count), fill.number(RingCommitOp)
    subject = f"commit after the box of {name_of(op.target)}"
    return fill.claim(subject, NonNegative(count - committed), count=count, committed=committed)


def _all_awaited(function: FuncOp, ring: SSAValue) -> Obligation:
    """Return the obligation that all fills of TMA have arrived when the kernel ends."""
    assert isinstance(ring.owner, RingOp)
    fill, ops = Fill(ring, ring.owner), function.body.block.ops
    acquired, awaited = (fill.number(kind, ops) for kind in (RingAcquireOp, RingWaitOp))
    subject = f"all fills of {name_of(ring)} are awaited"
    return fill.claim(subject, IsZero(acquired - awaited), acquired=acquired, awaited=awaited)


def _read(place: Place, ring: SSAValue) -> Obligation:
    """Return the obligation that a slot is read between the wait for its fill and the release."""
    fill, depth = Fill(ring, place.op), depth_of(ring)
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
        fill = Fill(ring, place.op)
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
