# SPDX-License-Identifier: Apache-2.0
"""
Time of a launch: rounds of blocks on the busiest SM, each as the simulated SM runs it.

Loops are simulated for a few steps. The rest of their steps takes as long as the last simulated
ones. Kernels without long loops are simulated for a few rounds of blocks. Each other round takes as
long as the last simulated one. Each SM has an equal share of device memory and L2.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from tilewright.codegen.report.clock.flight import MemoryRates
from tilewright.codegen.report.clock.machine import Device, Machine, device_of, machine_of
from tilewright.codegen.report.clock.multiprocessor import Multiprocessor, Run
from tilewright.codegen.report.clock.places import Action, Place, places_of
from tilewright.codegen.report.clock.route import Route, Routes
from tilewright.codegen.report.clock.timeline import LineWaits, Timeline
from tilewright.codegen.report.clock.trips import all_trips
from tilewright.codegen.report.clock.waits import Wait, total
from tilewright.codegen.report.estimate import REACHED_BANDWIDTH
from tilewright.codegen.report.instruction import Code
from tilewright.codegen.report.loops import Loop, loop_around
from tilewright.codegen.report.traffic import Traffic
from tilewright.dialects.target import L2_BYTES, Target
from tilewright.passes.cost.launch_cost import KernelCost

LAUNCH_SECONDS = 0.8e-6
"""Seconds of an empty kernel, measured on an H100 (`benchmarks/gpu_check.py`, `micro launch`)."""

_MOST_ISSUED = 50_000
"""Instructions to simulate in a run, about; a million take a second or two."""

_MOST_STEPS = 6
_LEAST_STEPS = 2
"""Steps of each loop in the shorter of two simulations; the first ones fill the pipeline."""

_SHOWN_LINES = 8
_GLOBAL = (Action.LOAD, Action.STORE, Action.COPY, Action.BOX)
_FACTORS = 0.1, 32.0
"""Bounds of the factors for conflicts and sectors; masked code can make counts differ."""


class LaunchFacts(NamedTuple):
    """Facts of a launch that the machine code does not contain."""

    code: Code
    cost: KernelCost
    traffic: Traffic
    resident: int
    """Blocks that an SM holds at once, at least 1."""
    warps: int
    """Warps of a block."""
    cluster: int
    box_bytes: float
    """Bytes of a TMA copy."""
    sharing: int = 1
    """Blocks that share a result; the last of them joins their parts."""


def clock(facts: LaunchFacts, target: Target, device: Device | None = None) -> Timeline:
    """
    Return the estimated time of a launch of SASS on `device`, by default the target's typical one.
    """
    return _Clock(facts, target, device or device_of(target)).timeline()


class _Clock:
    def __init__(self, facts: LaunchFacts, target: Target, device: Device):
        self.facts = facts
        self.device = device
        self.machine: Machine = machine_of(target)
        code = facts.code
        self.trips = all_trips(code, facts.cost, facts.box_bytes, facts.sharing)
        places = places_of(code, target, self.machine, facts.box_bytes)
        self.short, self.route = _routes(code, places, self.trips, facts.warps * facts.resident)
        self.times = _times(self.route, self.trips, len(places))
        self.places = _scaled(places, self.route, self.times, facts)
        sized = replace(target, sms=device.sms) if device.sms != target.sms else target
        cost = facts.cost
        self.most = sized.turns(cost.blocks, facts.resident, facts.cluster)
        self.room = sized.room(facts.resident, facts.cluster)
        self.runs: list[tuple[Run, float]] = []
        """Simulations, with the number of times that each counts."""

    def timeline(self) -> Timeline:
        is_long = any(self.trips[loop] > n + 0.5 for loop, n in self.route.steps.items() if n)
        clocks = self._by_rounds() if is_long else self._by_blocks()
        lines = _merged(
            (run.meter.by_line(self.places, self.times), weight) for run, weight in self.runs
        )
        waited = total(lines)
        issuing = sum(weight * self._issued(run) for run, weight in self.runs)
        every = max(1.0, issuing + sum(waited.values()))
        worst = sorted(lines.items(), key=lambda item: (-sum(item[1].values()), item[0]))
        return Timeline(
            clocks / self.device.hertz + LAUNCH_SECONDS,
            _sorted({wait: clocks / every for wait, clocks in waited.items()}),
            tuple(
                LineWaits(line, _sorted({wait: n / every for wait, n in waits.items()}))
                for line, waits in worst[:_SHOWN_LINES]
            ),
            sum(run.issued for run, _ in self.runs),
        )

    def _issued(self, run: Run) -> float:
        """Return the instructions of a run if its loops took all of their steps."""
        counted = max(1, len(self.route.others))
        return run.issued * sum(self.times[place] for place in self.route.others) / counted

    def _by_rounds(self) -> float:
        """Return the clocks of a kernel with long loops, round by round."""
        rounds, rest = divmod(self.most, self.facts.resident)
        left = self.facts.cost.blocks - rounds * self.room
        resident, blocks = self.facts.resident, self.facts.cost.blocks
        final, of_final = (rest, left) if rest else (resident, blocks)
        earlier = rounds if rest else rounds - 1
        kinds = Counter({(final, of_final, max(1, final // self.facts.sharing)): 1})
        if earlier:
            kinds[resident, blocks, resident // self.facts.sharing] += earlier
        clocks = sum(number * self._round(*kind, number) for kind, number in kinds.items())
        last, _ = self.runs[0]
        return clocks + max(0.0, last.stored - last.clocks)

    def _round(self, blocks: int, of_grid: int, joining: int, weight: float) -> float:
        """
        Return the clocks of one round of `blocks` blocks. The steps that both routes leave out take
        as long as those by which the routes differ.
        """
        before = self._simulate(self.short, blocks, of_grid, joining)
        run = self._simulate(self.route, blocks, of_grid, joining)
        self.runs.append((run, weight))
        some = self._of_steps(self.short.steps, self.route.steps, run.step_clocks)
        rest = self._of_steps(self.route.steps, self.trips, run.step_clocks)
        return run.clocks + (rest / some * max(0.0, run.clocks - before.clocks) if some else 0.0)

    def _of_steps(
        self,
        begin: Mapping[Loop, float],
        end: Mapping[Loop, float],
        step_clocks: Mapping[int, float],
    ) -> float:
        """
        Return the clocks of the steps of loops beyond `begin`, up to `end`. Steps of an outer loop
        contain steps of its inner loops.
        """
        clocks = 0.0
        for loop in self.trips:
            outer = loop_around(loop, self.trips)
            times = end[outer] / begin[outer] if outer and begin[outer] else 1.0
            steps = max(0.0, end[loop] - begin[loop] * times)
            clocks += steps * step_clocks.get(loop.start, 0.0)
        return clocks

    def _by_blocks(self) -> float:
        """Return the clocks of a kernel whose blocks are simulated from start to end."""
        resident, most = self.facts.resident, self.most
        of_block = len(self.route.others) * self.facts.warps
        rounds = max(3, _MOST_ISSUED // max(1, of_block * resident))
        blocks = min(most, rounds * resident + most % resident)
        joining = max(1, blocks // self.facts.sharing)
        run = self._simulate(self.route, blocks, self.facts.cost.blocks, joining, resident)
        self.runs.append((run, most / blocks))
        end = max(run.clocks, run.stored)
        if blocks == most:
            return end
        last = blocks // resident - 1
        period = run.starts[last * resident] - run.starts[(last - 1) * resident]
        return end + (most - blocks) / resident * period

    def _simulate(
        self, route: Route, blocks: int, of_grid: int, joining: int, resident: int | None = None
    ) -> Run:
        """
        Run `blocks` blocks on an SM, while `of_grid` blocks of the grid share the memory. The last
        `joining` of them join results of others.
        """
        facts, device = self.facts, self.device
        sharing = max(1, min(device.sms, of_grid))
        asked = facts.traffic.sector_bytes or 0
        rates = MemoryRates(
            REACHED_BANDWIDTH * device.bandwidth / device.hertz / sharing,
            min(L2_BYTES, device.l2_clock_bytes / sharing),
            self.machine.memory_latency,
            self.machine.l2_latency,
            min(1.0, facts.cost.global_bytes / asked) if asked else 1.0,
        )
        inner = {
            loop.start: [other.start for other in self.trips if other.whole < loop.whole]
            for loop in self.trips
        }
        instructions = facts.code.instructions
        made = sum(each.opcode.startswith("SYNCS.EXCH") for each in instructions)
        sm = Multiprocessor(self.places, route, inner, self.machine, rates, max(1, made // 2))
        return sm.run(blocks, resident or blocks, facts.warps, joining)


def _routes(
    code: Code, places: Sequence[Place], trips: Mapping[Loop, float], warps: int
) -> tuple[Route, Route]:
    """
    Return two routes, the second with twice as many steps of each loop, as many as the limit of
    instructions allows.
    """
    routes = Routes(code, places, trips)
    steps = _MOST_STEPS
    while True:
        route = routes.route(2 * steps)
        if steps == _LEAST_STEPS or len(route.others) * warps <= _MOST_ISSUED:
            return routes.route(steps), route
        steps -= 1


def _times(route: Route, trips: Mapping[Loop, float], number: int) -> list[float]:
    """Return for each place how often it runs for each time that the route has it."""
    times = [1.0] * number
    for loop in sorted(trips, key=lambda loop: -len(loop.whole)):
        if route.steps[loop]:
            factor = max(1.0, trips[loop] / route.steps[loop])
            for place in loop.whole:
                times[place] = factor
    return times


def _scaled(
    places: Sequence[Place], route: Route, times: Sequence[float], facts: LaunchFacts
) -> list[Place]:
    """
    Return the places with their wavefronts and bytes scaled so that the sums are those of the
    launch, which include bank conflicts and sectors that are touched in part.
    """
    warps, blocks = facts.warps, facts.cost.blocks

    def executed(*actions: Action) -> float:
        """Sum the amounts of all instructions with these actions in the launch."""
        found = 0.0
        for walked, by in ((route.first, 1), (route.others, warps - 1)):
            found += by * sum(
                times[n] * places[n].amount for n in walked if places[n].action in actions
            )
        return blocks * found

    conflicts = _factor(facts.traffic.wavefronts, executed(Action.SHARED))
    sectors = _factor(facts.traffic.sector_bytes, executed(*_GLOBAL))
    return [_scale(place, conflicts, sectors) for place in places]


def _factor(actual: float | None, counted: float) -> float:
    least, most = _FACTORS
    return min(most, max(least, actual / counted)) if actual and counted else 1.0


def _scale(place: Place, conflicts: float, sectors: float) -> Place:
    if place.action is Action.SHARED:
        return replace(place, wavefronts=place.wavefronts * conflicts)
    if place.action in _GLOBAL:
        return replace(place, amount=place.amount * sectors)
    return place


def _merged(
    parts: Iterable[tuple[Mapping[int, Mapping[Wait, float]], float]],
) -> dict[int, dict[Wait, float]]:
    """Return the sum of clocks by line and reason, each part times its weight."""
    found: dict[int, dict[Wait, float]] = {}
    for lines, weight in parts:
        for line, waits in lines.items():
            of_line = found.setdefault(line, {})
            for wait, clocks in waits.items():
                of_line[wait] = of_line.get(wait, 0.0) + weight * clocks
    return found


def _sorted(shares: Mapping[Wait, float]) -> dict[Wait, float]:
    return dict(sorted(((w, s) for w, s in shares.items() if s), key=lambda item: -item[1]))
