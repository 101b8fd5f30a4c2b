# SPDX-License-Identifier: Apache-2.0
"""
Order that atomics establish between threads: PTX ISA, "Release and Acquire Patterns".

A strong write releases the accesses before the last fence of its thread; with `.release`, all
earlier accesses. An update also passes on what was released at its place before. A strong read
finds the released accesses; a later fence, or `.acquire`, makes them known.

A release or an acquire holds for its own place only; a fence holds for all later or earlier
accesses. A strong write by a thread that has released at the place before takes part in that
release.

Order exists only among threads that the scopes of all four operations include: the write, the read,
and two fences or their substitutes ("Morally Strong Operations"). Released knowledge is therefore
kept for each scope that the kernel names, with the smallest scope on its way.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from tilewright.codegen.simulator.global_memory import Array
from tilewright.codegen.simulator.kernel import Kernel
from tilewright.codegen.simulator.lanes import Integers, Lanes
from tilewright.codegen.simulator.memory import Place
from tilewright.codegen.simulator.operands import Instruction
from tilewright.codegen.simulator.order import Order, View
from tilewright.codegen.simulator.scopes import SCOPES, Level, level_of, scope_of
from tilewright.codegen.simulator.vector_clocks import NOWHERE, Elsewhere, joined_elsewhere

_FENCES = ("membar", "fence")
_FENCED = {Level.BLOCK: View.BLOCK, Level.CLUSTER: View.CLUSTER, Level.DEVICE: View.DEVICE}
_SEEN = {
    Level.BLOCK: View.SEEN_BLOCK,
    Level.CLUSTER: View.SEEN_CLUSTER,
    Level.DEVICE: View.SEEN,
}
"""
Views that a fence of a level acquires, besides those of lower levels; `_FENCED` has the views that
it releases.
"""

Location = tuple[int, int]
"""Place in memory: the identity of its array, and the number of the byte in it."""
Near = tuple[Location, Level, int]
"""
Key of released knowledge: a place, the level of a scope, and the number of the block or cluster
that it is for (0 for the device).
"""


@dataclass(frozen=True)
class Strength:
    """
    Role of an instruction in the order: what it does to its place, its semantics, and the level of
    its scope.
    """

    reads: bool
    writes: bool
    updates: bool
    acquires: bool
    releases: bool
    level: Level


def strength_of(instruction: Instruction) -> Strength:
    parts, root = instruction.parts, instruction.root
    return Strength(
        reads=root in ("ld", "atom"),
        writes=root in ("st", "atom", "red"),
        updates=root in ("atom", "red"),
        acquires=bool({"acquire", "acq_rel"} & set(parts)),
        releases=bool({"release", "acq_rel"} & set(parts)),
        level=level_of(scope_of(instruction)),
    )


def orders_by_atomics(kernel: Kernel) -> bool:
    """True if a kernel can release anything: it has a fence, an acquire or a release."""
    return any(
        instruction.root in _FENCES or {"acquire", "release", "acq_rel"} & set(instruction.parts)
        for instruction in kernel.instructions
    )


def levels_of(kernel: Kernel) -> tuple[Level, ...]:
    """
    Return the levels of all fences and strong accesses of a kernel; none if it cannot release.
    """
    if not orders_by_atomics(kernel):
        return ()
    scopes = [scope_of(i) for i in kernel.instructions if i.root not in _FENCES]
    scopes += [i.parts[-1] for i in kernel.instructions if i.root in _FENCES]
    return tuple(sorted({level_of(scope) for scope in scopes if scope in SCOPES}))


class AtomicOrder:
    """
    Knowledge that has been released at each place of memory, in a launch.

    `levels` holds the levels of the kernel's fences and strong accesses.
    """

    def __init__(self, order: Order, levels: tuple[Level, ...]):
        self._order = order
        self._levels = levels
        self.changes = 0
        """Number of strong accesses in the launch that have changed a value."""
        self._released: dict[Near, Elsewhere] = {}
        self._own: dict[tuple[int, Near], Elsewhere] = {}
        """Knowledge that each lane has released at a place by `.release`, not by a fence."""
        self._lasting: set[int] = set()
        """Identities of the arrays in global memory, which outlive a batch."""

    def reset(self) -> None:
        """Start a batch: forget the lanes' own releases, and what was released in shared memory."""
        kept = self._lasting
        self._own.clear()
        self._released = {near: x for near, x in self._released.items() if near[0][0] in kept}

    def fence(
        self, lanes: Integers, level: Level, *, acquires: bool = True, releases: bool = True
    ) -> None:
        """Execute a fence of a level for the lanes."""
        if acquires:
            self._order.acquire_seen(lanes, self._views(_SEEN, level))
        if releases:
            self._order.fence(lanes, self._views(_FENCED, level))

    def _views(self, views: Mapping[Level, View], most: Level) -> list[View]:
        return [views[level] for level in self._levels if level <= most]

    def in_turn(self, place: Place) -> Place:
        """
        Return the place of an update with its lanes reordered: as they execute the update, one
        after the other.
        """
        lanes = place.lanes.numbers()
        turns = self._order.geometry.turns(lanes)
        group = Lanes(lanes[turns], place.lanes.count, False)
        return replace(place, lanes=group, offsets=place.offsets[turns])

    def access(self, place: Place, how: Strength) -> None:
        """Record one strong access of each lane to its place, lane by lane."""
        if not self._levels:
            return
        if isinstance(place.block, Array):
            self._lasting.add(id(place.block))
        lanes = place.lanes.numbers()
        for lane, offset in zip(lanes.tolist(), place.offsets.tolist(), strict=True):
            self._access(lane, (id(place.block), offset), how)

    def _access(self, lane: int, where: Location, how: Strength) -> None:
        for level in self._levels:
            if how.reads and level <= how.level:
                self._see(lane, self._near(lane, where, level), level, acquires=how.acquires)
        for level in self._levels:
            if how.writes:
                self._release(lane, self._near(lane, where, level), level, how)
        if how.writes and how.releases:
            self._order.fence(np.array([lane]), ())

    def _near(self, lane: int, where: Location, level: Level) -> Near:
        geometry = self._order.geometry
        block = lane // geometry.width + geometry.first_block
        match level:
            case Level.BLOCK:
                return where, level, block
            case Level.CLUSTER:
                return where, level, block // geometry.cluster_blocks
            case Level.DEVICE:
                return where, level, 0

    def _release(self, lane: int, near: Near, level: Level, how: Strength) -> None:
        """
        Record what a lane's write releases. An update adds to what was released there before; any
        other write replaces it.
        """
        mine = self._released_by(lane, near, level, how) if level <= how.level else NOWHERE
        if how.updates:
            mine = joined_elsewhere(self._released.get(near, NOWHERE), mine)
        if mine or near in self._released:
            self._released[near] = mine

    def _released_by(self, lane: int, near: Near, level: Level, how: Strength) -> Elsewhere:
        if not how.releases:
            fenced = self._order.released(lane, _FENCED[level])
            return joined_elsewhere(self._own.get((lane, near), NOWHERE), fenced)
        released = self._order.released(lane, View.VISIBLE)
        self._own[lane, near] = released
        return released

    def _see(self, lane: int, near: Near, level: Level, *, acquires: bool) -> None:
        view = View.VISIBLE if acquires else _SEEN[level]
        self._order.see(lane, self._released.get(near, NOWHERE), view)
