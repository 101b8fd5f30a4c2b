# SPDX-License-Identifier: Apache-2.0
"""
`mbarrier.try_wait`: lanes that wait until a phase is complete. PTX ISA.

The instruction may return early. In a loop that repeats it, it never does here: the loop then takes
one turn. Without a loop it does, because the code after it must be right in that case, too.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tilewright.codegen.simulator.findings import Findings, Kind
from tilewright.codegen.simulator.geometry import Geometry
from tilewright.codegen.simulator.lanes import Lanes, compact, merge
from tilewright.codegen.simulator.mbarriers import MBarriers
from tilewright.codegen.simulator.memory import Place
from tilewright.codegen.simulator.operands import Instruction
from tilewright.codegen.simulator.registers import Values
from tilewright.codegen.simulator.scopes import Level


@dataclass(frozen=True, eq=False)
class PhaseWait:
    """Wait for a phase: the place of the mbarrier, the phase, and the predicate for the answer."""

    instruction: Instruction
    places: Callable[[Lanes], list[Place]]
    phase: Values
    target: Values
    parity: bool
    acquires: Level | None
    once: bool
    """
    True if no loop repeats the wait. The answer is then false, unless a lane knows that the phase
    is complete.
    """

    def test(self, mbarriers: MBarriers, lanes: Lanes) -> None:
        """
        Test the phase, and write the answer to the predicate. The answer is true for an mbarrier
        that cannot be used, which is reported.
        """
        self.target[lanes.index] = True
        for place in self.places(lanes):
            phase = self.phase[place.lanes.index].astype(np.int64)
            self.target[place.lanes.index] = mbarriers.test(
                place.lanes.numbers(),
                place.offsets,
                phase & 1 if self.parity else phase,
                self.instruction.line,
                parity=self.parity,
                acquires=self.acquires,
                once=self.once,
            )


class PhaseHall:
    """Lanes of a batch of blocks that wait for phases."""

    def __init__(self, geometry: Geometry, mbarriers: MBarriers, findings: Findings):
        self._geometry = geometry
        self._mbarriers = mbarriers
        self._findings = findings
        self._waiting: list[tuple[int, PhaseWait, Lanes]] = []

    def come(self, place: int, wait: PhaseWait, lanes: Lanes) -> Lanes | None:
        """
        Test the phase for arriving lanes, and return the lanes that continue at once.

        The others wait, and continue at `place` later.
        """
        wait.test(self._mbarriers, lanes)
        complete = wait.target[lanes.index]
        left = lanes.where(~complete)
        if left is not None:
            self._waiting.append((place, wait, left))
        return lanes.where(complete)

    def settle(self) -> list[tuple[int, Lanes]]:
        """Test the phases of waiting lanes again, and return the lanes that continue."""
        waiting, self._waiting = self._waiting, []
        gone = [(place, self.come(place, wait, lanes)) for place, wait, lanes in waiting]
        return [(place, lanes) for place, lanes in gone if lanes is not None]

    def stuck(self) -> Lanes | None:
        """Report a deadlock, and return the lanes that never continue."""
        for _, wait, lanes in self._waiting:
            place = wait.places(compact(lanes.numbers()[:1]))[0]
            barrier = self._mbarriers.objects[int(place.offsets[0])]
            self._findings.add(
                Kind.DEADLOCK,
                wait.instruction.line,
                f"{self._geometry.name(int(lanes.numbers()[0]))} waits forever for phase "
                f"{barrier.phase} of an mbarrier: {barrier.missing()}",
            )
        lanes = [lanes for _, _, lanes in self._waiting]
        self._waiting = []
        return merge(lanes, self._geometry.lanes) if lanes else None
