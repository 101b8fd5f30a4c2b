# SPDX-License-Identifier: Apache-2.0
"""
`barrier.cluster.arrive` and `.wait` for all threads of a cluster. PTX ISA, "barrier.cluster".

Each thread arrives, may do other work, and then waits. The wait ends when all running threads of
the cluster have arrived as often as the waiting thread.

Accesses before a releasing arrival are known after the wait. Accesses between an arrival and its
wait are not. A relaxed arrival orders no memory. After the wait it only proves that all blocks of
the cluster have started.
"""

from dataclasses import dataclass

import numpy as np

from tilewright.codegen.simulator.findings import Findings, Kind
from tilewright.codegen.simulator.geometry import Geometry
from tilewright.codegen.simulator.lanes import Booleans, Integers, Lanes, merge
from tilewright.codegen.simulator.operands import Instruction
from tilewright.codegen.simulator.order import Knowledge, Order
from tilewright.codegen.simulator.shared_races import SharedRaces


@dataclass(frozen=True)
class _Party:
    place: int
    instruction: Instruction
    lanes: Lanes


class ClusterHall:
    """Lanes of a batch that have arrived at the barrier of their cluster, or wait at it."""

    def __init__(
        self,
        geometry: Geometry,
        order: Order,
        findings: Findings,
        alive: Booleans,
        races: SharedRaces,
    ):
        self._geometry = geometry
        self._order = order
        self._findings = findings
        self._alive = alive
        self._all = alive.copy()
        self._races = races
        self._releases = np.zeros(geometry.lanes, np.bool_)
        """Mask of the lanes whose last arrival was a release."""
        self._touches: int | None = None
        """
        Number of accesses to shared memory that had been made at the first arrival of the current
        phase; None if no lane has arrived.
        """
        self._arrivals = np.zeros(geometry.lanes, np.int64)
        self._waits = np.zeros(geometry.lanes, np.int64)
        self._released: dict[tuple[int, int], list[Knowledge]] = {}
        self._waiting: list[_Party] = []
        self.all_passed = False
        """
        True if, the last time, all threads passed the barrier together and then knew all accesses
        to shared memory.
        """

    def arrive(self, instruction: Instruction, lanes: Lanes) -> None:
        numbers = lanes.numbers()
        if (self._arrivals[numbers] > self._waits[numbers]).any():
            what = "arrives again at the barrier of its cluster, before it has waited"
            self._report(instruction, lanes, what)
        self._arrivals[numbers] += 1
        if self._touches is None:
            self._touches = self._races.touches
        self._releases[numbers] = "relaxed" not in instruction.parts
        if "relaxed" in instruction.parts:
            return
        for (cluster, phase), mine in self._groups(numbers):
            known = self._released.setdefault((cluster, phase), [])
            known.append(self._order.release(mine))

    def wait(self, place: int, instruction: Instruction, lanes: Lanes) -> None:
        numbers = lanes.numbers()
        if (self._arrivals[numbers] == self._waits[numbers]).any():
            what = "waits at the barrier of its cluster, where it has not arrived"
            self._report(instruction, lanes, what)
        self._waiting.append(_Party(place, instruction, lanes))

    def settle(self) -> list[tuple[int, Lanes]]:
        """
        Return the waiting lanes that continue, because their whole cluster has arrived, with the
        places where they continue.
        """
        self.all_passed = False
        never = np.iinfo(np.int64).max
        arrivals = np.where(self._alive, self._arrivals, never)
        fewest = arrivals.reshape(-1, self._order.members).min(axis=1)
        left: list[_Party] = []
        gone: list[tuple[int, Lanes]] = []
        for party in self._waiting:
            numbers = party.lanes.numbers()
            opens = self._arrivals[numbers] <= fewest[numbers // self._order.members]
            go, stay = party.lanes.where(opens), party.lanes.where(~opens)
            if stay is not None:
                left.append(_Party(party.place, party.instruction, stay))
            if go is not None:
                gone.append((party.place, go))
                self._pass(go.numbers())
        if gone and (self._arrivals == self._waits).all():
            self.all_passed = self._is_known(gone)
            self._touches = None
        self._waiting = left
        return gone

    def _is_known(self, gone: list[tuple[int, Lanes]]) -> bool:
        """
        True if the passing lanes know all accesses to shared memory.

        They do if they are all threads, their arrivals were releases, and no access was made since
        the first arrival.
        """
        passed = sum(lanes.count for _, lanes in gone)
        all_passed = passed == int(np.count_nonzero(self._all))
        quiet = self._touches == self._races.touches
        return all_passed and quiet and bool(self._releases[self._all].all())

    def stuck(self) -> Lanes | None:
        """Report a deadlock, and return the lanes that never continue."""
        lanes = [party.lanes for party in self._waiting]
        for party in self._waiting:
            name = self._geometry.name(int(party.lanes.numbers()[0]))
            self._findings.add(
                Kind.DEADLOCK,
                party.instruction.line,
                f"{name} waits forever at the barrier of its cluster: not all arrive",
            )
        self._waiting = []
        return merge(lanes, self._geometry.lanes) if lanes else None

    def _pass(self, numbers: Integers) -> None:
        started = self._order.started()
        for key, mine in self._groups(numbers):
            self._order.acquire(mine, started)
            if key in self._released:
                known = self._order.joined(self._released[key])
                self._released[key] = [known]
                self._order.acquire(mine, known)
            self._waits[mine] = self._arrivals[mine]

    def _groups(self, numbers: Integers) -> list[tuple[tuple[int, int], Integers]]:
        """
        Return groups of lanes of the same cluster with the same number of arrivals, each with these
        two numbers.
        """
        cluster = numbers // self._order.members
        keys = cluster << 32 | self._arrivals[numbers]
        return [
            ((key >> 32, key & (1 << 32) - 1), numbers[keys == key])
            for key in np.unique(keys).tolist()
        ]

    def _report(self, instruction: Instruction, lanes: Lanes, what: str) -> None:
        name = self._geometry.name(int(lanes.numbers()[0]))
        self._findings.add(Kind.DIVERGENCE, instruction.line, f"{name} {what}")
