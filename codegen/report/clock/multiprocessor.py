# SPDX-License-Identifier: Apache-2.0
"""
Simulation of one SM: four schedulers issue the instructions of resident warps.

Each clock, a scheduler issues one instruction of a warp whose stall count is over, whose
scoreboards are clear and whose pipe is free. It prefers the warp of the last instruction, then the
oldest one. Time advances from event to event. All schedulers share the path to shared memory and
L1, one wavefront a clock, and the memory (`flight.py`).
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import inf

from tilewright.codegen.report.clock.flight import Flight, MemoryRates
from tilewright.codegen.report.clock.machine import Machine, Pipe
from tilewright.codegen.report.clock.places import Action, Place
from tilewright.codegen.report.clock.route import Route, boxes_of_fills
from tilewright.codegen.report.clock.waits import Wait, WaitMeter
from tilewright.codegen.report.clock.warps import BlockState, Warp
from tilewright.dialects.target import SCHEDULERS

_CAUSES = {
    Action.LOAD: Wait.MEMORY,
    Action.STORE: Wait.MEMORY,
    Action.COPY: Wait.MEMORY,
    Action.REMOTE: Wait.MEMORY,
    Action.SHARED: Wait.SHARED,
    Action.SHUFFLE: Wait.SHARED,
    Action.SPECIAL: Wait.PIPE,
    Action.TENSOR: Wait.PIPE,
}

_READ_CLOCKS = 12
"""Clocks after which an instruction has read its operands; assumed."""


@dataclass
class Run:
    """Result of a simulation."""

    clocks: float = 0.0
    """Time at which the last warp ends."""
    stored: float = 0.0
    """Time at which all stores have reached memory."""
    starts: list[float] = field(default_factory=list[float])
    """Time at which each block starts."""
    step_clocks: dict[int, float] = field(default_factory=dict[int, float])
    """Clocks between two steps of a loop, by the place of the loop's start."""
    meter: WaitMeter = field(default_factory=lambda: WaitMeter(0))
    issued: int = 0


class Multiprocessor:
    """An SM that runs blocks of one kernel."""

    def __init__(
        self,
        places: Sequence[Place],
        route: Route,
        inner_loops: Mapping[int, Sequence[int]],
        machine: Machine,
        rates: MemoryRates,
        slots: int,
    ):
        self.places = places
        self.route = route
        self.machine = machine
        self.slots = slots
        self._inner_loops = inner_loops
        """Starts of the loops inside each loop, by its start."""
        self._scoreboards = [place.control.waits for place in places]
        self._boxes = boxes_of_fills(places, route.first)
        self._flight = Flight(rates)
        self._shared_free = 0.0
        self._warps: list[list[Warp]] = [[] for _ in range(SCHEDULERS)]
        self._free = [dict.fromkeys(Pipe, 0.0) for _ in range(SCHEDULERS)]
        self._queues = [deque[float]() for _ in range(SCHEDULERS)]
        self._last: list[Warp | None] = [None] * SCHEDULERS
        self._events: list[tuple[float, int]] = []
        self._next = [inf] * SCHEDULERS
        """Time of the next event of each scheduler; other events of it are void."""
        self._steps: dict[int, list[float]] = {}
        self._result = Run(meter=WaitMeter(len(places)))
        self._blocks_left = 0
        self._joining = 0
        self._effects: dict[Action, Callable[[Warp, Place, float], float]] = {
            Action.CONSTANT: lambda _, __, now: now + machine.constant_latency,
            Action.SPECIAL: lambda _, __, now: now + machine.special_latency,
            Action.TENSOR: lambda _, __, now: now + machine.tensor_latency,
            Action.SHARED: self._shared,
            Action.SHUFFLE: self._shuffle,
            Action.REMOTE: lambda _, __, now: now + machine.remote_latency,
            Action.LOAD: self._load,
            Action.STORE: self._store,
            Action.COPY: self._copy,
            Action.BOX: self._box,
            Action.GROUP: self._group,
        }

    def run(self, blocks: int, resident: int, warps: int, joining: int) -> Run:
        """
        Run `blocks` blocks of `warps` warps each, `resident` at a time; return the result. The last
        `joining` blocks execute the code behind the exit of the others.
        """
        self._blocks_left = blocks
        self._joining = joining
        for _ in range(min(blocks, resident)):
            self._start_block(warps, 0.0)
        while any(self._warps):
            if not self._events:
                self._unblock()
            now, scheduler = heappop(self._events)
            if now == self._next[scheduler]:
                self._next[scheduler] = inf
                self._issue(scheduler, now)
        self._result.step_clocks = {
            start: sum(taken) / len(taken) for start, taken in self._steps.items()
        }
        return self._result

    def _start_block(self, warps: int, now: float) -> None:
        route = self.route
        first, others = route.first, route.others
        if self._blocks_left > self._joining:
            first, others = first[: route.exit_first], others[: route.exit_others]
        self._blocks_left -= 1
        block = BlockState(len(self._result.starts), self.slots)
        self._result.starts.append(now)
        block.left = warps
        for number in range(warps):
            # Each scheduler gets the warp with the fewest others.
            scheduler = min(range(SCHEDULERS), key=lambda s: (len(self._warps[s]), s))
            walked = others if number else first
            warp = Warp(block, walked, self._scoreboards, scheduler, now)
            block.warps.append(warp)
            self._warps[scheduler].append(warp)
        for scheduler in range(SCHEDULERS):
            self._schedule(scheduler, now)

    def _schedule(self, scheduler: int, now: float) -> None:
        """Make `scheduler` issue at the time `now`, or when its latest instruction is issued."""
        now = max(now, self._free[scheduler][Pipe.CONTROL])
        if now < self._next[scheduler]:
            self._next[scheduler] = now
            heappush(self._events, (now, scheduler))

    def _unblock(self) -> None:
        """
        Resume all warps. They wait for each other only if the route of a warp differs from the real
        one, for example because both sides of a condition are executed.
        """
        warps = [warp for warps in self._warps for warp in warps]
        for warp in warps:
            warp.block.forget_waits()
            warp.resume(max(free[Pipe.CONTROL] for free in self._free), Wait.BARRIER)
        self._wake(warps)

    def _issue(self, scheduler: int, now: float) -> None:
        """Issue an instruction of `scheduler` at the time `now` if a warp is ready."""
        warps = self._warps[scheduler]
        free = self._free[scheduler]
        places = self.places
        chosen, nearest = None, inf
        last = self._last[scheduler]
        for warp in warps:
            ready = warp.ready
            if ready < inf:
                pipe_free = free[places[warp.route[warp.at]].pipe]
                if pipe_free > ready:
                    ready = pipe_free
            if ready <= now:
                if chosen is None or warp is last:
                    chosen = warp
            elif ready < nearest:
                nearest = ready
        if chosen is None:
            if nearest < inf:
                self._schedule(scheduler, nearest)
            return
        self._last[scheduler] = chosen
        self._execute(chosen, scheduler, now)
        self._schedule(scheduler, now + 1)

    def _execute(self, warp: Warp, scheduler: int, now: float) -> None:
        number = warp.route[warp.at]
        place = self.places[number]
        free = self._free[scheduler]
        self._meter(warp, number, max(warp.ready, free[place.pipe]), now)
        if number in self._inner_loops:
            self._note_step(warp, number, now)
        self._result.issued += 1
        warp.at += 1
        warp.base = now + place.control.stall
        free[Pipe.CONTROL] = now + 1
        if place.pipe is not Pipe.CONTROL:
            free[place.pipe] = now + place.clocks
        if place.pipe is Pipe.MEMORY:
            self._enter_queue(scheduler, now, place)
        effect = self._effects.get(place.action)
        if effect is not None:
            self._signal(warp, place, now, effect(warp, place, now))
        if warp.at == len(warp.route):
            self._end(warp, now)
        else:
            self._prepare(warp, number, place, now)

    def _meter(self, warp: Warp, number: int, free: float, now: float) -> None:
        """Record how long `warp` has waited before its instruction at the place `number`."""
        clocks = self._result.meter.clocks
        if warp.ready > warp.base:
            clocks[warp.why][number] += warp.ready - warp.base
        if free > warp.ready:
            pipe = self.places[number].pipe
            why = Wait.SHARED if pipe is Pipe.MEMORY else Wait.PIPE
            clocks[why][number] += free - warp.ready
        clocks[Wait.ISSUE][number] += max(0.0, now - max(free, warp.ready))

    def _note_step(self, warp: Warp, start: int, now: float) -> None:
        """Record the time since the warp's previous visit of a loop's start."""
        for inner in self._inner_loops[start]:
            warp.visited.pop(inner, None)  # is entered again
        visits, before = warp.visited.get(start, (0, now))
        if visits >= 2:
            self._steps.setdefault(start, []).append(now - before)
        warp.visited[start] = visits + 1, now

    def _enter_queue(self, scheduler: int, now: float, place: Place) -> None:
        """
        Put an instruction into the memory queue. The next one waits until the queue has room.
        """
        self._shared_free = max(self._shared_free, now) + place.wavefronts
        queue = self._queues[scheduler]
        queue.append(self._shared_free)
        if len(queue) >= self.machine.queue_length:
            free = self._free[scheduler]
            free[Pipe.MEMORY] = max(free[Pipe.MEMORY], queue.popleft())

    def _signal(self, warp: Warp, place: Place, now: float, done: float) -> None:
        """Set the scoreboards that an instruction signals when it is done."""
        control = place.control
        if control.write_scoreboard is not None:
            board = control.write_scoreboard
            if done > warp.boards[board]:
                warp.boards[board] = done
                warp.causes[board] = _CAUSES.get(place.action, Wait.ISSUE)
        if control.read_scoreboard is not None:
            board = control.read_scoreboard
            is_queued = place.pipe is Pipe.MEMORY
            read = max(now, self._shared_free if is_queued else now) + _READ_CLOCKS
            if read > warp.boards[board]:
                warp.boards[board] = read
                warp.causes[board] = Wait.SHARED if is_queued else Wait.PIPE

    def _shared(self, _: Warp, __: Place, ___: float) -> float:
        return self._shared_free + self.machine.shared_latency

    def _shuffle(self, _: Warp, __: Place, ___: float) -> float:
        return self._shared_free + self.machine.shuffle_latency

    def _load(self, _: Warp, place: Place, __: float) -> float:
        return self._flight.request(self._shared_free, place.amount)

    def _store(self, warp: Warp, place: Place, now: float) -> float:
        done = self._load(warp, place, now)
        self._result.stored = max(self._result.stored, done)
        return done

    def _copy(self, warp: Warp, place: Place, _: float) -> float:
        done = self._flight.request(self._shared_free, place.amount)
        warp.open_copies = max(warp.open_copies, done)
        return self._shared_free

    def _box(self, warp: Warp, place: Place, _: float) -> float:
        self._wake(warp.block.add_box(self._flight.request(self._shared_free, place.amount)))
        return self._shared_free

    def _group(self, warp: Warp, place: Place, now: float) -> float:
        warp.groups.append(max(now, self._free[warp.scheduler][Pipe.TENSOR]) + place.clocks)
        return now

    def _prepare(self, warp: Warp, number: int, place: Place, now: float) -> None:
        """Set the time from which the next instruction of `warp` can issue."""
        match place.action:
            case Action.BARRIER:
                self._wake(warp.block.arrive(warp, now + self.machine.barrier))
            case Action.CLUSTER:
                warp.resume(now + self.machine.cluster_barrier, Wait.BARRIER)
            case Action.FENCE:
                warp.resume(now + self.machine.l2_latency, Wait.MEMORY)
            case Action.COMMIT:
                warp.copies.append(warp.open_copies)
                warp.resume(now, Wait.ISSUE)
            case Action.WAIT_COPIES:
                warp.resume(_done(warp.copies, place.amount), Wait.MEMORY)
            case Action.WAIT_GROUPS:
                warp.resume(_done(warp.groups, place.amount), Wait.PIPE)
            case Action.EXPECT:
                boxes = self._boxes.get(warp.at - 1, 0)
                warp.resume(now, Wait.ISSUE)
                self._wake(warp.block.begin_fill(boxes, now))
            case Action.WAIT_FULL if number in self.route.producing:
                if warp.block.wait_empty(warp):
                    warp.resume(now, Wait.ISSUE)
            case Action.WAIT_FULL:
                filled = warp.block.wait_full(warp)
                if filled is not None:
                    warp.resume(filled, Wait.MEMORY)
            case Action.RELEASE:
                warp.resume(now, Wait.ISSUE)
                self._wake(warp.block.release(now + self.machine.barrier))
            case _:
                warp.resume(now, Wait.ISSUE)

    def _wake(self, warps: Sequence[Warp]) -> None:
        for warp in warps:
            if warp.ready < inf:
                self._schedule(warp.scheduler, warp.ready)

    def _end(self, warp: Warp, now: float) -> None:
        """Remove a warp that has ended; start the next block in place of a block that has ended."""
        self._warps[warp.scheduler].remove(warp)
        block = warp.block
        block.left -= 1
        self._result.clocks = max(self._result.clocks, now)
        if block.left:
            self._wake(block.released(now))
        elif self._blocks_left:
            self._start_block(len(block.warps), now + 1)


def _done(groups: Sequence[float], pending: float) -> float:
    """Return the time at which all groups except the latest `pending` are done."""
    return max(groups[: max(0, len(groups) - int(pending))], default=0.0)
