# SPDX-License-Identifier: Apache-2.0
"""
How atomics order what threads do: PTX ISA, "Release and Acquire Patterns".

A strong write releases what a fence of its thread lies behind (with `.release`, all that it knows);
an update hands on what was released there before. A strong read finds it, and a fence after it (or
`.acquire`) makes it known.

A release or an acquire counts for its own place only; a fence for all that follow or precede it.
A strong write of the thread that has released there before takes part in that release.

All of it counts only among threads that the scopes of all four operations include: two fences, or
what takes their place, and the write and the read ("Morally Strong Operations"). So what is
released is kept for each scope that the kernel names, with the smallest scope that was on its way.
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
"""The view that a fence of a level changes, and that it acquires, beside those of lower levels."""

Location = tuple[int, int]
"""Which memory, and the byte."""
Near = tuple[Location, Level, int]
"""A place as the threads of one block or cluster know it, or all (0)."""


@dataclass(frozen=True)
class Strength:
    """How an instruction takes part: what it does to its place, and with which semantics."""

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
    """True if anything can be released: without a fence nothing is."""
    return any(
        instruction.root in _FENCES or {"acquire", "release", "acq_rel"} & set(instruction.parts)
        for instruction in kernel.instructions
    )


def levels_of(kernel: Kernel) -> tuple[Level, ...]:
    """
    Return the levels of all fences and strong accesses of a kernel; none where nothing is released.
    """
    if not orders_by_atomics(kernel):
        return ()
    scopes = [scope_of(i) for i in kernel.instructions if i.root not in _FENCES]
    scopes += [i.parts[-1] for i in kernel.instructions if i.root in _FENCES]
    return tuple(sorted({level_of(scope) for scope in scopes if scope in SCOPES}))


class AtomicOrder:
    """
    What has been released at each place of memory, in the launch.

    `levels` are those of the kernel's fences and strong accesses.
    """

    def __init__(self, order: Order, levels: tuple[Level, ...]):
        self._order = order
        self._levels = levels
        self.changes = 0
        """Strong accesses that have changed a value, in the launch."""
        self._released: dict[Near, Elsewhere] = {}
        self._own: dict[tuple[int, Near], Elsewhere] = {}
        """Clocks that each lane has released at a place, by `.release` and not by a fence."""
        self._lasting: set[int] = set()
        """The arrays in global memory."""

    def reset(self) -> None:
        """Start a batch: what lies in shared memory is gone."""
        kept = self._lasting
        self._own.clear()
        self._released = {near: x for near, x in self._released.items() if near[0][0] in kept}

    def fence(
        self, lanes: Integers, level: Level, *, acquires: bool = True, releases: bool = True
    ) -> None:
        """Execute a fence of a level."""
        if acquires:
            self._order.acquire_seen(lanes, self._views(_SEEN, level))
        if releases:
            self._order.fence(lanes, self._views(_FENCED, level))

    def _views(self, views: Mapping[Level, View], most: Level) -> list[View]:
        return [views[level] for level in self._levels if level <= most]

    def in_turn(self, place: Place) -> Place:
        """Return the lanes of an update in the order in which they come."""
        lanes = place.lanes.numbers()
        turns = self._order.geometry.turns(lanes)
        group = Lanes(lanes[turns], place.lanes.count, False)
        return replace(place, lanes=group, offsets=place.offsets[turns])

    def access(self, place: Place, how: Strength) -> None:
        """Lanes act on one place each, one after the other."""
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
        """An update hands on what was released there before; any other write ends it."""
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
