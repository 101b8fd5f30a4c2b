# SPDX-License-Identifier: Apache-2.0
"""
Block barriers: `bar.sync`, `bar.arrive` and related instructions. PTX ISA, "bar, barrier".

A barrier opens for a block when all running threads of the block have arrived, or as many threads
as the instruction counts. Threads of `bar.arrive` are counted but do not wait, and the barrier does
not order their later accesses.

Threads of a block that wait at different instructions are reported. Since Volta `__syncthreads()`
waits until each thread of the block has reached that call or exited (CUDA C++ Programming Guide). A
barrier orders nothing that an exited thread did.

A thread count is one of whole warps. A warp arrives when its last running thread arrives, and
counts 32, also if some of its threads have exited or never existed.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from tilewright.codegen.simulator.barrier_users import BarrierUsers
from tilewright.codegen.simulator.findings import Findings, Kind
from tilewright.codegen.simulator.geometry import Geometry
from tilewright.codegen.simulator.lanes import WARP, Booleans, Integers, Lanes, merge
from tilewright.codegen.simulator.operands import Instruction
from tilewright.codegen.simulator.order import Knowledge, Order
from tilewright.codegen.simulator.registers import Values

_BARRIERS = 16
"""Number of barriers that a block has."""


@dataclass(frozen=True, eq=False)
class Barrier:
    """
    One barrier instruction: the barrier's number and its thread count (None: the whole block).

    `reduce` writes the results of `bar.red`; it takes the lanes that pass, and the block of each
    lane. `waits` is false for `bar.arrive`.
    """

    instruction: Instruction
    number: Values
    threads: Values | None
    reduce: Callable[[Lanes, Integers], None]
    waits: bool = True


@dataclass(frozen=True)
class _Party:
    """
    Lanes at a barrier instruction; they continue at `place`.

    `keys` holds the barrier and block of each lane, `threads` the thread count that each lane gave.
    Both are copies of the registers at arrival, because lanes that do not wait may change them.
    `arrived` holds, by key, what the lanes of `bar.arrive` knew and had done by then.
    """

    place: int
    barrier: Barrier
    lanes: Lanes
    keys: Integers
    threads: Integers | None
    arrived: dict[int, Knowledge] = field(default_factory=dict[int, Knowledge])

    def part(self, chosen: Booleans) -> "_Party | None":
        """Return the party of the chosen lanes, or None if no lane is chosen."""
        lanes = self.lanes.where(chosen)
        if lanes is None or lanes is self.lanes:
            return lanes and self
        threads = None if self.threads is None else self.threads[chosen]
        return replace(self, lanes=lanes, keys=self.keys[chosen], threads=threads)


class Hall:
    """Lanes of a batch of blocks that wait at barriers, or have arrived at them."""

    def __init__(self, geometry: Geometry, order: Order, findings: Findings, alive: Booleans):
        self._geometry = geometry
        self._order = order
        self._findings = findings
        self._alive = alive
        self._live = alive.copy()
        self._waiting: list[_Party] = []
        self._users = BarrierUsers(geometry, order)
        self.all_passed = False
        """True if all running threads have passed the barrier that opened last."""

    def come(self, place: int, barrier: Barrier, lanes: Lanes) -> None:
        index = lanes.index
        number = barrier.number[index]
        keys = self._geometry.block_of[index] * _BARRIERS + number % _BARRIERS
        threads = None if barrier.threads is None else barrier.threads[index].astype(np.int64)
        party = _Party(place, barrier, lanes, keys, threads)
        if number.max() >= _BARRIERS:
            what = f"a block has barriers 0 to {_BARRIERS - 1}, but not {number.max()}"
            self._report(party, what)
        if threads is not None and (threads % WARP).any():
            self._report(party, "its thread count is no multiple of 32")
        if not barrier.waits:
            for key in np.unique(keys).tolist():
                party.arrived[key] = self._order.release(lanes.numbers()[keys == key])
        self._waiting.append(party)

    def settle(self) -> list[tuple[int, Lanes]]:
        """
        Open the barriers that are complete. Return the lanes that pass them, with the places where
        they continue.
        """
        self.all_passed = False
        if not self._waiting:
            return []
        if self._all_at_one_barrier():
            party = self._waiting.pop()
            lanes = party.lanes
            party.barrier.reduce(lanes, self._geometry.block_of[lanes.index])
            self._order.barrier(lanes.numbers(), everybody=True)
            self.all_passed = True
            return [(party.place, lanes)]
        complete = self._complete()
        self._report_divergence(complete)
        return self._open(complete)

    def stuck(self) -> Lanes | None:
        """Report a deadlock, and return the lanes that never continue."""
        for party in self._waiting:
            name = self._geometry.name(int(party.lanes.numbers()[0]))
            others = {p.barrier.instruction.line for p in self._waiting if p.place != party.place}
            elsewhere = f"; other threads wait in line {min(others)}" if others else ""
            verb = "waits forever" if party.barrier.waits else "arrives"
            self._findings.add(
                Kind.DEADLOCK,
                party.barrier.instruction.line,
                f"{name} {verb} at a barrier that too few threads reach{elsewhere}",
            )
        lanes = [party.lanes for party in self._waiting if party.barrier.waits]
        self._waiting = []
        return merge(lanes, self._geometry.lanes) if lanes else None

    def _all_at_one_barrier(self) -> bool:
        """
        True if all running threads wait at one barrier instruction for their whole block, which is
        the usual case.
        """
        if len(self._waiting) != 1 or self._waiting[0].barrier.threads is not None:
            return False
        (party,) = self._waiting
        number = party.keys % _BARRIERS
        return party.lanes.count == np.count_nonzero(self._live) and bool(
            (number == number[0]).all()
        )

    def _complete(self) -> Booleans:
        """
        Return a mask of the barriers that are complete, by key (barrier and block). Report wrong
        thread counts.

        A barrier is complete if it has enough arrivals and at least one thread waits.
        """
        count = self._geometry.blocks * _BARRIERS
        waits = np.zeros(count, np.bool_)
        arrived = np.zeros(count, np.int64)
        alive = np.bincount(self._geometry.block_of[self._alive], minlength=self._geometry.blocks)
        needed = np.repeat(alive, _BARRIERS)
        counted = np.zeros(count, np.bool_)
        for party in self._waiting:
            keys = party.keys
            arrived += np.bincount(keys, minlength=count)
            waits[keys] |= party.barrier.waits
            if party.threads is not None:
                self._report_counts(party, np.where(counted, needed, 0)[keys])
                needed[keys] = party.threads
                counted[keys] = True
        if counted.any():
            arrived = np.where(counted, self._arrived_warps(count) * WARP, arrived)
        for party in self._waiting:
            keys = party.keys
            if (arrived[keys] > needed[keys]).any():
                few, many = int(needed[keys].min()), int(arrived[keys].max())
                self._report(party, f"{many} threads reach it, more than the {few} that it counts")
        return (arrived >= needed) & waits

    def _report_counts(self, party: _Party, others: Integers) -> None:
        """
        Report lanes that give different thread counts for one barrier. `others` has the count that
        earlier lanes gave; 0 if none did.
        """
        assert party.threads is not None
        keys, first = np.unique(party.keys, return_index=True)
        mine = party.threads[first][np.searchsorted(keys, party.keys)]
        if (wrong := (mine != party.threads) | ((others != 0) & (others != mine))).any():
            lane = int(party.lanes.numbers()[wrong][0])
            self._report(party, "other threads give another thread count", lane)

    def _arrived_warps(self, count: int) -> Integers:
        """
        Return by key (barrier and block) the number of warps that have arrived. A warp arrives when
        its last running thread arrives.
        """
        lanes, keys = _joined(self._waiting)
        pairs, come = np.unique(keys << 32 | lanes // WARP, return_counts=True)
        here, warp = pairs >> 32, pairs & (1 << 32) - 1
        missing = np.zeros(len(pairs), np.int64)
        for number in np.unique(here).tolist():
            running = self._alive.copy()
            running[lanes[keys == number]] = True
            mine = here == number
            missing[mine] = running.reshape(-1, WARP).sum(axis=1)[warp[mine]]
        return np.bincount(here, weights=come // missing, minlength=count).astype(np.int64)

    def _open(self, complete: Booleans) -> list[tuple[int, Lanes]]:
        gone: list[tuple[int, Lanes]] = []
        left: list[_Party] = []
        opened: list[_Party] = []
        for party in self._waiting:
            opens = complete[party.keys]
            if (go := party.part(opens)) is not None:
                self._report_reuse(go)
                party.barrier.reduce(go.lanes, self._geometry.block_of[go.lanes.index])
                opened.append(go)
                if party.barrier.waits:
                    gone.append((party.place, go.lanes))
            if (stay := party.part(~opens)) is not None:
                left.append(stay)
        self._waiting = left
        if opened:
            self._synchronise(opened)
        return gone

    def _synchronise(self, opened: list[_Party]) -> None:
        """
        Record the order that opened barriers establish: waiting lanes learn what all lanes did
        before they arrived.

        Lanes that only arrive learn nothing.
        """
        arrived = [party for party in opened if not party.barrier.waits]
        lanes, keys = _joined([party for party in opened if party.barrier.waits])
        if not arrived:
            self._order.teams(lanes, keys)
        for key in np.unique(keys).tolist() if arrived else ():
            mine = lanes[keys == key]
            known = [party.arrived[key] for party in arrived if key in party.arrived]
            self._order.acquire(mine, self._order.joined([*known, self._order.release(mine)]))
        others, their_keys = _joined(arrived)
        for number in np.unique(keys % _BARRIERS).tolist():
            passing, arriving = lanes[keys % _BARRIERS == number], their_keys % _BARRIERS == number
            self._users.passed(number, passing, others[arriving])

    def _report_reuse(self, party: _Party) -> None:
        numbers, lanes = party.keys % _BARRIERS, party.lanes.numbers()
        for number in np.unique(numbers).tolist():
            lane = self._users.unordered_user(number, lanes[numbers == number])
            if lane is not None:
                self._report(party, f"other threads may still wait at barrier {number}", lane)

    def _report_divergence(self, complete: Booleans) -> None:
        opens_twice = complete & self._reached_twice()
        for party in sorted(self._waiting, key=lambda party: party.lanes.count):
            keys = party.keys
            opens = opens_twice[keys]
            if opens.any() and party.barrier.threads is not None:
                opens &= self._in_warp(party, keys)
            if opens.any():
                lines = {
                    other.barrier.instruction.line
                    for other in self._waiting
                    if other.place != party.place
                }
                others = ", ".join(map(str, sorted(lines)))
                self._report(party, f"other threads of its block wait in line {others}")
                return

    def _reached_twice(self) -> Booleans:
        """
        Return a mask of the barriers for which lanes wait at several instructions, by key (barrier
        and block).
        """
        first = np.full(self._geometry.blocks * _BARRIERS, -1)
        twice = np.zeros(len(first), np.bool_)
        for party in self._waiting:
            before = first[party.keys]
            twice[party.keys] |= (before >= 0) & (before != party.place)
            first[party.keys] = party.place
        return twice

    def _in_warp(self, party: _Party, keys: Integers) -> Booleans:
        """
        Return a mask of the lanes whose warp has lanes that wait for the same barrier at another
        instruction.

        Warps may reach a barrier with a thread count at different instructions, but lanes of a warp
        may not.
        """
        here = np.zeros(len(keys), np.bool_)
        warps = party.lanes.numbers() // WARP
        for other in self._waiting:
            if other.place != party.place:
                same = np.isin(warps, other.lanes.numbers() // WARP)
                here |= same & np.isin(keys, other.keys)
        return here

    def _report(self, party: _Party, what: str, lane: int | None = None) -> None:
        first = int(party.lanes.numbers()[0]) if lane is None else lane
        self._findings.add(
            Kind.DIVERGENCE,
            party.barrier.instruction.line,
            f"{self._geometry.name(first)} waits at a block barrier while {what}",
        )


def _joined(parties: list[_Party]) -> tuple[Integers, Integers]:
    """Return the lanes of several parties, and their keys."""
    nothing = np.zeros(0, np.int64)
    lanes = np.concatenate([nothing, *(party.lanes.numbers() for party in parties)])
    return lanes, np.concatenate([nothing, *(party.keys for party in parties)])
