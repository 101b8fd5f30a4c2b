# SPDX-License-Identifier: Apache-2.0
"""
Machine that runs a compiled kernel on a batch of blocks.

All lanes start in one group. A divergent branch splits its group. The group at the lowest
instruction always runs first, so that groups reconverge where their paths join.

Lanes that wait are set aside in a *hall* until no group can run. They wait for the rest of their
warp, at a barrier, or for a phase of an mbarrier.
"""

from collections.abc import Callable

import numpy as np

from tilewright.codegen.simulator.barriers import Barrier, Hall
from tilewright.codegen.simulator.cluster_barrier import ClusterHall
from tilewright.codegen.simulator.collectives import Collective, Gathering
from tilewright.codegen.simulator.findings import Kind
from tilewright.codegen.simulator.groups import Groups, Turns
from tilewright.codegen.simulator.lanes import Lanes, all_lanes, compact
from tilewright.codegen.simulator.operands import Instruction
from tilewright.codegen.simulator.phase_waits import PhaseHall, PhaseWait
from tilewright.codegen.simulator.spins import (
    SpinHall,
    counted_branches,
    endless_branches,
    spinning_branches,
)
from tilewright.codegen.simulator.turns import strong_writes
from tilewright.codegen.simulator.unit import Step, Unit

Control = Callable[[Lanes], None]
"""Compiled instruction that decides where its lanes continue."""


_LEAST_LANES = 128
"""
Number of lanes below which a group takes no less time, because the overhead of NumPy's calls
dominates.
"""
_FREE = 1 << 26
"""
Allowed excess of a batch's cost over its budget, in thread-instructions: some seconds. In the cost,
a small group counts as `_LEAST_LANES` lanes.
"""


class OutOfBudget(Exception):
    """Signal that the batch has executed more thread-instructions than its budget allows."""


class Machine:
    """
    Program of a kernel, and the groups of lanes that run it.

    `steps` has one entry per instruction; the entry of an instruction in `controls` is never
    called. `executed` counts thread-instructions: one for each lane of a group at each instruction.
    It includes lanes that a predicate masks off.
    """

    def __init__(self, unit: Unit):
        self.unit = unit
        self.steps: list[Step] = []
        self.controls: dict[int, Control] = {}
        self.executed = 0
        self._cost = 0
        self.spinning = spinning_branches(unit.kernel)
        self.counted = counted_branches(unit.kernel, self.spinning)
        self.endless = endless_branches(unit.kernel)
        self.turns: Turns | None = None
        """Order in which teams of lanes run; None if all lanes run together."""

    def run(self, budget: int) -> None:
        """
        Run the batch that the geometry is set to. Raises `OutOfBudget` if it executes too much.
        """
        unit = self.unit
        geometry, findings, order = unit.geometry, unit.findings, unit.order
        live = geometry.live()
        self._alive = live.copy()
        self._hall = Hall(geometry, order, findings, self._alive)
        races = unit.shared.races
        self.clusters = ClusterHall(geometry, order, findings, self._alive, races)
        self._phases = PhaseHall(geometry, unit.mbarriers, findings)
        self._spins = SpinHall(geometry, findings)
        self._gathering = Gathering(geometry, findings, races, self._alive)
        all_live = bool(live.all())
        self._groups = Groups(geometry.lanes, len(self.steps), self.turns)
        self.go(0, all_lanes(geometry.lanes) if all_live else compact(np.flatnonzero(live)))
        stops = self._stops()
        self._yielded: list[tuple[int, Lanes]] = []
        self._polled = False
        with np.errstate(all="ignore"):
            while self._groups or self._settle():
                self._run_next(stops)
                if self.executed > budget or self._cost > budget + _FREE:
                    raise OutOfBudget

    def _stops(self) -> list[int]:
        """
        Return for each instruction the place where a group that runs from there stops.

        It is the next control, or the next place where a team yields.
        """
        writes = strong_writes(self.unit.kernel)
        if self.turns is None or not self.turns.lets_others_poll:
            writes = set[int]()
        pauses = self.turns is not None and self.turns.pauses
        self._yields_at = {place + 1 for place in writes} if pauses else writes
        stops: list[int] = [0] * len(self.steps)
        nearest = len(self.steps)
        for place in reversed(range(len(self.steps))):
            nearest = place if place in self.controls else nearest
            stops[place] = nearest
            nearest = place if place in self._yields_at else nearest
        return stops

    def _run_next(self, stops: list[int]) -> None:
        place, lanes, others = self._groups.take()
        if place == len(self.steps):
            self.exit(lanes)
            return
        stop = stops[place] if others is None else min(stops[place], others)
        for step in self.steps[place:stop]:
            step(lanes)
        yields = stop in self._yields_at and stop > place
        controls = stop in self.controls and stop != others and not yields
        end = stop + controls
        self.executed += (end - place) * lanes.count
        self._cost += (end - place) * max(lanes.count, _LEAST_LANES)
        self.unit.meters.visits.add(place, end, lanes)
        self._spins.ran(place, end - 1)
        if yields:
            self._yielded.append((stop, lanes))
        elif controls:
            self.controls[stop](lanes)
        else:
            self.go(stop, lanes)

    def go(self, place: int, lanes: Lanes | None) -> None:
        """Queue the lanes to continue at an instruction; None stands for no lanes."""
        if lanes is not None:
            self._groups.add(place, lanes)

    def exit(self, lanes: Lanes) -> None:
        self.unit.copies.exit(lanes)
        self.unit.warpgroups.exit(lanes)
        self._alive[lanes.index] = False

    def trap(self, lanes: Lanes, instruction: Instruction) -> None:
        name = self.unit.geometry.name(int(lanes.numbers()[0]))
        message = f"{name} executes a trap, for example for an input with an index out of range"
        self.unit.findings.add(Kind.TRAP, instruction.line, message)
        self._alive[lanes.index] = False

    def hang(self, lanes: Lanes, instruction: Instruction) -> None:
        """Report a loop that nothing can end, and stop the lanes that have reached it."""
        name = self.unit.geometry.name(int(lanes.numbers()[0]))
        message = f"{name} is in a loop that nothing can end; a plain flag may be read only once"
        self.unit.findings.add(Kind.DEADLOCK, instruction.line, message)
        self._alive[lanes.index] = False

    def wait(self, place: int, barrier: Barrier, lanes: Lanes) -> None:
        self._hall.come(place + 1, barrier, lanes)
        if not barrier.waits:
            self.go(place + 1, lanes)

    def gather(self, place: int, collective: Collective, lanes: Lanes) -> None:
        self.go(place + 1, self._gathering.come(place + 1, collective, lanes))

    def await_phase(self, place: int, wait: PhaseWait, lanes: Lanes) -> None:
        self.go(place + 1, self._phases.come(place + 1, wait, lanes))

    def spin(self, place: int, target: int, instruction: Instruction, lanes: Lanes) -> None:
        """
        Branch back in a spin loop: set the lanes aside until others have run.

        Lanes branch at once if the loop is counted and teams of lanes run without yielding.
        """
        lets_ask = self.turns is None or self.turns.lets_others_poll
        if not lets_ask and place in self.counted:
            self.go(target, lanes)
            return
        loop = range(target, place + 1)
        self._spins.come(loop, instruction, lanes, counts=place in self.counted)

    def _settle(self) -> bool:
        """Resume waiting lanes when no group can run; return False if no lane can ever continue."""
        self.unit.order.compact()
        for hall in (self._gathering, self._phases, self._hall, self.clusters):
            if gone := hall.settle():
                self._spins.others_ran()
                return self._go_on(gone)
        if self._yielded:
            return self._go_on(self._poll_or_resume())
        if gone := self._poll() or self._gathering.force():
            return self._go_on(gone)
        for hall in (self._hall, self.clusters, self._phases, self._spins):
            if (stuck := hall.stuck()) is not None:
                self._alive[stuck.index] = False
        return False

    def _poll_or_resume(self) -> list[tuple[int, Lanes]]:
        """
        Return the lanes that run after a team has yielded.

        All polling lanes get one turn, then the next yielded team continues.
        """
        self._polled = not self._polled
        if self._polled and (polling := self._poll()):
            return polling
        self._polled = False
        return [self._yielded.pop(0)]

    def _poll(self) -> list[tuple[int, Lanes]]:
        yielded = sum(lanes.count for _, lanes in self._yielded)
        return self._spins.settle(yielded, self.unit.atomics.changes)

    def _go_on(self, gone: list[tuple[int, Lanes]]) -> bool:
        alone = self.unit.geometry.cluster_blocks == 1
        if self.clusters.all_passed or (alone and self._hall.all_passed):
            self.unit.shared.races.new_interval()
        self._hall.all_passed = self.clusters.all_passed = False
        for place, lanes in gone:
            self.go(place, lanes)
        return True
