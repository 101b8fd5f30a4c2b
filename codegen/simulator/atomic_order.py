# SPDX-License-Identifier: Apache-2.0
"""
How atomics order what threads do: release and acquire patterns, PTX ISA 9.0, section 8.7.

A strong write releases what a fence of its thread lies behind (with `.release`, all that it knows);
an update hands on what was released there before. A strong read finds it, and a fence after it (or
`.acquire`) makes it known. Fences and releases of a block count within the block only.
"""

from dataclasses import dataclass, replace

import numpy as np

from tilewright.codegen.simulator.global_memory import Array
from tilewright.codegen.simulator.kernel import Kernel
from tilewright.codegen.simulator.lanes import Integers, Lanes
from tilewright.codegen.simulator.memory import Place
from tilewright.codegen.simulator.operands import Instruction
from tilewright.codegen.simulator.order import Order, View
from tilewright.codegen.simulator.vector_clocks import NOWHERE, Elsewhere, joined_elsewhere

_FENCES = ("membar", "fence")
_NARROW = "cta"
_STRONG = ("relaxed", "acquire", "release", "acq_rel", "volatile")
_SCOPES = ("cta", "cluster", "gpu", "sys")

_FENCED = {True: (View.BLOCK,), False: (View.DEVICE, View.BLOCK)}
_SEEN = {True: (View.SEEN_BLOCK,), False: (View.SEEN, View.SEEN_BLOCK)}
"""The views that a fence changes, and those that it acquires: whether it is of the block only."""

Location = tuple[int, int]
"""Which memory, and the byte."""


@dataclass(frozen=True)
class Strength:
    """How an instruction takes part: what it does to its place, and with which semantics."""

    reads: bool
    writes: bool
    updates: bool
    acquires: bool
    releases: bool
    narrow: bool


def scope_of(instruction: Instruction) -> str | None:
    """The scope of a strong access; None for a weak one."""
    parts = instruction.parts
    if instruction.root not in ("atom", "red") and not set(parts) & set(_STRONG):
        return None
    named = [part for part in parts if part in _SCOPES]
    return named[0] if named else "gpu"


def strength_of(instruction: Instruction) -> Strength:
    parts, root = instruction.parts, instruction.root
    return Strength(
        reads=root in ("ld", "atom"),
        writes=root in ("st", "atom", "red"),
        updates=root in ("atom", "red"),
        acquires=bool({"acquire", "acq_rel"} & set(parts)),
        releases=bool({"release", "acq_rel"} & set(parts)),
        narrow=scope_of(instruction) == _NARROW,
    )


def orders_by_atomics(kernel: Kernel) -> bool:
    """Whether anything can be released: without a fence nothing is."""
    return any(
        instruction.root in _FENCES or {"acquire", "release", "acq_rel"} & set(instruction.parts)
        for instruction in kernel.instructions
    )


class AtomicOrder:
    """What has been released at each place of memory, in the launch."""

    def __init__(self, order: Order, active: bool):
        self._order = order
        self._active = active
        self._released: dict[Location, Elsewhere] = {}
        self._lasting: set[int] = set()
        """The arrays in global memory."""
        self._released_in: dict[tuple[Location, int], Elsewhere] = {}

    def reset(self) -> None:
        """Start a batch: what lies in shared memory is gone."""
        kept = self._lasting
        self._released = {where: x for where, x in self._released.items() if where[0] in kept}
        self._released_in = {}

    def fence(self, lanes: Integers, narrow: bool) -> None:
        """Of the block, or of the device."""
        self._order.acquire_seen(lanes, _SEEN[narrow])
        self._order.fence(lanes, _FENCED[narrow])

    def in_turn(self, place: Place) -> Place:
        """The lanes of an update in the order in which they come."""
        lanes = place.lanes.numbers()
        turns = self._order.geometry.turns(lanes)
        group = Lanes(lanes[turns], place.lanes.count, False)
        return replace(place, lanes=group, offsets=place.offsets[turns])

    def access(self, place: Place, how: Strength) -> None:
        """Lanes act on one place each, one after the other."""
        if not self._active:
            return
        if isinstance(place.block, Array):
            self._lasting.add(id(place.block))
        lanes = place.lanes.numbers()
        for lane, offset in zip(lanes.tolist(), place.offsets.tolist(), strict=True):
            self._access(lane, (id(place.block), offset), how)

    def _access(self, lane: int, where: Location, how: Strength) -> None:
        order = self._order
        near = where, lane // order.geometry.width + order.geometry.first_block
        if how.reads:
            self._read(lane, where, near, how)
        if not how.writes:
            return
        if how.releases:
            order.fence(np.array([lane]), _FENCED[how.narrow])
        wide = NOWHERE if how.narrow else order.released(lane, View.DEVICE)
        narrow = order.released(lane, View.BLOCK)
        if how.updates:
            wide = joined_elsewhere(self._released.get(where, NOWHERE), wide)
            narrow = joined_elsewhere(self._released_in.get(near, NOWHERE), narrow)
        if wide or where in self._released:
            self._released[where] = wide
        if narrow or near in self._released_in:
            self._released_in[near] = narrow

    def _read(self, lane: int, where: Location, near: tuple[Location, int], how: Strength) -> None:
        order = self._order
        wide, narrow = self._released.get(where, NOWHERE), self._released_in.get(near, NOWHERE)
        if not wide and not narrow:
            return
        order.see(lane, NOWHERE if how.narrow else wide, View.SEEN)
        order.see(lane, narrow, View.SEEN_BLOCK)
        if how.acquires:
            order.acquire_seen(np.array([lane]), _SEEN[how.narrow])
