# SPDX-License-Identifier: Apache-2.0
"""
Warp collectives: instructions that wait for the lanes of their member mask and exchange values.

When a group of lanes reaches the instruction, lanes whose members are all present continue at once.
The others wait until the remaining lanes of their member mask arrive, on any path.
"""

from collections.abc import Callable

import numpy as np

from tilewright.codegen.simulator.findings import Findings, Kind
from tilewright.codegen.simulator.geometry import Geometry
from tilewright.codegen.simulator.lanes import WARP, Booleans, Lanes, Masks, merge, warp_bits
from tilewright.codegen.simulator.meeting import ALL_MEMBERS, Collective, Meeting
from tilewright.codegen.simulator.registers import Values
from tilewright.codegen.simulator.shared_races import SharedRaces
from tilewright.codegen.simulator.warp_order import WarpOrder


class Gathering:
    """
    Collectives of a batch of blocks: decides which lanes wait and which continue.

    `alive` is the machine's own array of lanes that have not exited.
    """

    def __init__(self, geometry: Geometry, findings: Findings, races: SharedRaces, alive: Booleans):
        self._geometry = geometry
        self._findings = findings
        self._races = races
        self._alive = alive
        self._exists = warp_bits(alive)
        self._waiting: list[tuple[int, Collective, Lanes]] = []

    def come(self, place: int, collective: Collective, lanes: Lanes) -> Lanes | None:
        """
        Record lanes that arrive at a collective. Return those of them that continue at once because
        all members have arrived.

        The others wait, and continue at `place` later.
        """
        mask = collective.mask[lanes.index]
        if lanes.whole and int(mask.min()) == ALL_MEMBERS:
            self._join([(collective, lanes)])
            self._meet(collective, lanes, self._alive, collective.sources)
            return lanes
        self._waiting.append((place, collective, lanes))
        gone = self._execute(lambda other: other is lanes, warp_bits(self._alive))
        return gone[0][1] if gone else None

    def settle(self) -> list[tuple[int, Lanes]]:
        """
        Execute the collectives for which all running members wait. Return their lanes, with the
        places where they continue.
        """
        return self._execute(lambda lanes: True, warp_bits(self._alive))

    def force(self) -> list[tuple[int, Lanes]]:
        """
        Report lanes that wait for members that never arrive. Return all waiting lanes, which now
        continue, with their places.
        """
        for _, collective, lanes in self._waiting:
            self._report_absent(collective, lanes)
        return self._execute(lambda lanes: True, np.zeros_like(self._exists))

    def _execute(self, chosen: Callable[[Lanes], bool], needed: Masks) -> list[tuple[int, Lanes]]:
        """
        Execute the collectives of waiting lanes if those of their members that are in `needed` all
        wait. Return the lanes that continue, with their places.

        `needed` has a word for each warp, with a bit for each lane. `chosen` selects the waiting
        groups to look at.
        """
        going: list[tuple[int, Collective, Lanes]] = []
        left: list[tuple[int, Collective, Lanes]] = []
        waiting = self._waiting
        for key in dict.fromkeys(item[1].key for item in waiting):
            same = [item for item in waiting if item[1].key == key]
            asked = [item for item in same if chosen(item[2])]
            left += [item for item in same if not chosen(item[2])]
            present = self._mask_of([lanes for _, _, lanes in asked])
            together: list[tuple[int, Collective, Lanes]] = []
            for place, collective, lanes in asked:
                done = self._complete(collective, lanes, present, needed)
                go, stay = lanes.where(done), lanes.where(~done)
                together += [(place, collective, go)] if go else []
                left += [(place, collective, stay)] if stay else []
            self._meet_all([(collective, lanes) for _, collective, lanes in together], present)
            going += together
        self._waiting = left
        return [(place, lanes) for place, _, lanes in going]

    def _mask_of(self, groups: list[Lanes]) -> Booleans:
        among = np.zeros(self._geometry.lanes, np.bool_)
        for lanes in groups:
            among[lanes.index] = True
        return among

    def _complete(
        self, collective: Collective, lanes: Lanes, present: Booleans, needed: Masks
    ) -> Booleans:
        warp = lanes.numbers() // WARP
        return (collective.mask[lanes.index] & needed[warp] & ~warp_bits(present)[warp]) == 0

    def _meet_all(self, parties: list[tuple[Collective, Lanes]], present: Booleans) -> None:
        if not parties:
            return
        if parties[0][0].aligned:
            together = merge([lanes for _, lanes in parties], self._geometry.lanes)
            parties = [(parties[0][0], together)]
        brought = _brought(parties)
        self._join(parties)
        for collective, lanes in parties:
            self._check_mask(collective, lanes)
            self._meet(collective, lanes, present, brought)

    def _meet(
        self, collective: Collective, lanes: Lanes, present: Booleans, brought: list[Values]
    ) -> None:
        meeting = Meeting(collective, lanes, present, brought, self._findings, self._geometry)
        collective.meet(meeting)

    def _check_mask(self, collective: Collective, lanes: Lanes) -> None:
        """
        Report a mask that omits the lane itself, or that names a lane that exited without arriving.

        Lanes that have exited are excused (CUDA C++ Programming Guide, warp shuffle functions). But
        nothing orders their exit before the other lanes arrive.
        """
        mask, numbers = collective.mask[lanes.index], lanes.numbers()
        outside = (mask >> (numbers % WARP).astype(np.uint32) & 1) == 0
        if outside.any():
            first = int(np.argmax(outside))
            self._findings.add(
                Kind.MASK,
                collective.instruction.line,
                f"{self._geometry.name(int(numbers[first]))} is not in its own member mask "
                f"{int(mask[first]):#010x}",
            )
        exited = self._exists & ~warp_bits(self._alive)
        if (mask & exited[numbers // WARP]).any():
            self._report_absent(collective, lanes)

    def _report_absent(self, collective: Collective, lanes: Lanes) -> None:
        mask = collective.mask[lanes.index]
        self._findings.add(
            Kind.MASK,
            collective.instruction.line,
            f"{self._geometry.name(int(lanes.numbers()[0]))} waits for the lanes of the member "
            f"mask {int(mask[0]):#010x}, but not all of them arrive",
        )

    def _join(self, parties: list[tuple[Collective, Lanes]]) -> None:
        """
        Record which lanes collectives have synchronised with each other, for the detection of
        races.

        Accesses that a collective makes itself come later: nothing orders them for other lanes.
        """
        self._join_order(self._races.executed, parties)
        visibly = [(collective, lanes) for collective, lanes in parties if collective.orders_memory]
        if visibly:
            numbers = np.concatenate([lanes.numbers() for _, lanes in visibly])
            masks = np.concatenate([c.mask[lanes.index] for c, lanes in visibly])
            self._races.order.teams(numbers, numbers // WARP << 32 | masks.astype(np.int64))

    def _join_order(self, order: WarpOrder, parties: list[tuple[Collective, Lanes]]) -> None:
        if not parties:
            return
        if len(parties) == 1 and parties[0][1].whole and parties[0][0].mask.min() == ALL_MEMBERS:
            order.join_all(parties[0][1].index)
            return
        numbers = np.concatenate([lanes.numbers() for _, lanes in parties])
        masks = np.concatenate([collective.mask[lanes.index] for collective, lanes in parties])
        alive = warp_bits(self._alive)[numbers // WARP]
        full = (masks & alive) == alive
        if full.any():
            order.join_all(numbers[full])
        if not full.all():
            order.join_some(numbers[~full], masks[~full])


def _brought(parties: list[tuple[Collective, Lanes]]) -> list[Values]:
    """
    Return the source values of a collective for all lanes, also if the lanes wait at different
    instructions.
    """
    if len(parties) == 1:
        return parties[0][0].sources
    brought = [source.copy() for source in parties[0][0].sources]
    for collective, lanes in parties[1:]:
        for mine, source in zip(brought, collective.sources, strict=True):
            mine[lanes.index] = source[lanes.index]
    return brought
