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
from math import inf

from tilewright.codegen.report.clock.flight import Flight, MemoryRates
from tilewright.codegen.report.clock.machine import Machine
from tilewright.codegen.report.clock.places import Action, Place
from tilewright.codegen.report.clock.route import Route, boxes_of_fills
from tilewright.codegen.report.clock.steps import CONTROL, MEMORY, PIPES, TENSOR, Step, steps_of
from tilewright.codegen.report.clock.waits import Wait, WaitMeter
from tilewright.codegen.report.clock.warps import BlockState, Warp
from tilewright.dialects.target import SCHEDULERS

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
        self.route = route
        self.machine = machine
        self.slots = slots
        steps = steps_of(places, inner_loops, machine)
        self._first = [steps[number] for number in route.first]
        self._others = [steps[number] for number in route.others]
        self._boxes = boxes_of_fills(places, route.first)
        self._flight = Flight(rates)
        self._shared_free = 0.0
        self._warps: list[list[Warp]] = [[] for _ in range(SCHEDULERS)]
        self._number_of_warps = 0
        self._free = [[0.0] * len(PIPES) for _ in range(SCHEDULERS)]
        self._queues = [deque[float]() for _ in range(SCHEDULERS)]
        self._last: list[Warp | None] = [None] * SCHEDULERS
        self._next = [inf] * SCHEDULERS
        """Time of the next event of each scheduler."""
        self._steps: dict[int, list[float]] = {}
        self._result = Run(meter=WaitMeter(len(places)))
        self._clocks = self._result.meter.clocks
        self._issuing = self._clocks[Wait.ISSUE]
        self._blocks_left = 0
        self._joining = 0
        self._effects: dict[Action, Callable[[Warp, Step, float], float]] = {
            Action.SHARED: self._shared,
            Action.SHUFFLE: self._shuffle,
            Action.LOAD: self._load,
            Action.STORE: self._store,
            Action.COPY: self._copy,
            Action.BOX: self._box,
            Action.GROUP: self._group,
        }
        """Functions that return the time at which the result of an instruction is ready."""
        self._waits: dict[Action, Callable[[Warp, Step, float], None]] = {
            Action.BARRIER: self._barrier,
            Action.CLUSTER: self._cluster,
            Action.FENCE: self._fence,
            Action.COMMIT: self._commit,
            Action.WAIT_COPIES: self._wait_copies,
            Action.WAIT_GROUPS: self._wait_groups,
            Action.EXPECT: self._expect,
            Action.WAIT_FULL: self._wait_full,
            Action.RELEASE: self._release,
        }
        """Functions that set the time from which a warp's next instruction can issue."""

    def run(self, blocks: int, resident: int, warps: int, joining: int) -> Run:
        """
        Run `blocks` blocks of `warps` warps each, `resident` at a time; return the result. The last
        `joining` blocks execute the code behind the exit of the others.
        """
        self._blocks_left = blocks
        self._joining = joining
        for _ in range(min(blocks, resident)):
            self._start_block(warps, 0.0)
        following, free = self._next, self._free
        while self._number_of_warps:
            now = min(following)
            if now == inf:
                self._unblock()
                continue
            scheduler = following.index(now)
            following[scheduler] = inf
            warp = self._last[scheduler]
            if warp is None or warp.ready > now or free[scheduler][warp.step.pipe] > now:
                warp = self._ready_warp(scheduler, now)
                if warp is None:
                    continue
                self._last[scheduler] = warp
            self._issue(warp, free[scheduler], now)
            if now + 1 < following[scheduler]:
                following[scheduler] = now + 1
        self._result.step_clocks = {
            start: sum(taken) / len(taken) for start, taken in self._steps.items()
        }
        return self._result

    def _start_block(self, warps: int, now: float) -> None:
        first, others = self._first, self._others
        if self._blocks_left > self._joining:
            first, others = first[: self.route.exit_first], others[: self.route.exit_others]
        self._blocks_left -= 1
        block = BlockState(len(self._result.starts), self.slots)
        self._result.starts.append(now)
        block.left = warps
        self._number_of_warps += warps
        for number in range(warps):
            # Each scheduler gets the warp with the fewest others.
            scheduler = min(range(SCHEDULERS), key=lambda s: (len(self._warps[s]), s))
            warp = Warp(block, others if number else first, scheduler, now)
            block.warps.append(warp)
            self._warps[scheduler].append(warp)
        for scheduler in range(SCHEDULERS):
            self._schedule(scheduler, now)

    def _schedule(self, scheduler: int, now: float) -> None:
        """Make `scheduler` issue at the time `now`, or when its latest instruction is issued."""
        now = max(now, self._free[scheduler][CONTROL])
        if now < self._next[scheduler]:
            self._next[scheduler] = now

    def _unblock(self) -> None:
        """
        Resume all warps. They wait for each other only if the route of a warp differs from the real
        one, for example because both sides of a condition are executed.
        """
        warps = [warp for warps in self._warps for warp in warps]
        for warp in warps:
            warp.block.forget_waits()
            warp.resume(max(free[CONTROL] for free in self._free), Wait.BARRIER)
        self._wake(warps)

    def _ready_warp(self, scheduler: int, now: float) -> Warp | None:
        """
        Return the oldest warp that can issue at the time `now`. Without one, the scheduler's next
        event is the time at which the first one can.
        """
        free, nearest = self._free[scheduler], inf
        for warp in self._warps[scheduler]:
            ready = warp.ready
            if ready < nearest:
                pipe_free = free[warp.step.pipe]
                if pipe_free > ready:
                    ready = pipe_free
                if ready <= now:
                    return warp
                if ready < nearest:
                    nearest = ready
        self._next[scheduler] = nearest
        return None

    def _issue(self, warp: Warp, free: list[float], now: float) -> None:
        """Issue the next instruction of a warp of the scheduler whose pipes are `free`."""
        step = warp.step
        pipe = step.pipe
        self._meter(warp, step, free[pipe], now)
        if step.inner is not None:
            self._note_step(warp, step, now)
        free[CONTROL] = now + 1
        if pipe != CONTROL:
            free[pipe] = now + step.clocks
        ready = warp.base = now + step.stall
        at = warp.at = warp.at + 1
        is_last = at == len(warp.route)
        if not is_last:
            warp.step = warp.route[at]
        if not step.is_plain:
            self._execute(warp, step, now)
        if is_last:
            self._end(warp, now)
        elif step.is_plain:
            for board in warp.step.waits:
                if warp.boards[board] > ready:
                    ready = warp.boards[board]
                    warp.why = warp.causes[board]
            warp.ready = ready
        elif (wait := self._waits.get(step.place.action)) is not None:
            wait(warp, step, now)
        else:
            warp.resume(now, Wait.ISSUE)

    def _meter(self, warp: Warp, step: Step, free: float, now: float) -> None:
        """Record how long `warp` has waited to issue `step`, whose pipe is free from `free`."""
        ready = warp.ready
        if ready > warp.base:
            self._clocks[warp.why][step.number] += ready - warp.base
        if free > ready:
            self._clocks[step.busy][step.number] += free - ready
            ready = free
        if now > ready:
            self._issuing[step.number] += now - ready

    def _note_step(self, warp: Warp, step: Step, now: float) -> None:
        """Record the time since the warp's previous visit of a loop's start."""
        start = step.number
        for inner in step.inner or ():
            warp.visited.pop(inner, None)  # is entered again
        visits, before = warp.visited.get(start, (0, now))
        if visits >= 2:
            self._steps.setdefault(start, []).append(now - before)
        warp.visited[start] = visits + 1, now

    def _execute(self, warp: Warp, step: Step, now: float) -> None:
        """Change the state of the SM, and set the scoreboards that the instruction signals."""
        if step.pipe == MEMORY:
            self._enter_queue(warp.scheduler, now, step.place.wavefronts)
        if step.latency is not None:
            done = now + step.latency
        elif (effect := self._effects.get(step.place.action)) is not None:
            done = effect(warp, step, now)
        else:
            return
        control, boards = step.place.control, warp.boards
        board = control.write_scoreboard
        if board is not None and done > boards[board]:
            boards[board] = done
            warp.causes[board] = step.cause
        board = control.read_scoreboard
        if board is not None:
            is_queued = step.pipe == MEMORY
            read = max(now, self._shared_free if is_queued else now) + _READ_CLOCKS
            if read > boards[board]:
                boards[board] = read
                warp.causes[board] = Wait.SHARED if is_queued else Wait.PIPE

    def _enter_queue(self, scheduler: int, now: float, wavefronts: float) -> None:
        """
        Put an instruction into the memory queue. The next one waits until the queue has room.
        """
        self._shared_free = max(self._shared_free, now) + wavefronts
        queue = self._queues[scheduler]
        queue.append(self._shared_free)
        if len(queue) >= self.machine.queue_length:
            free = self._free[scheduler]
            free[MEMORY] = max(free[MEMORY], queue.popleft())

    def _shared(self, warp: Warp, step: Step, now: float) -> float:
        return self._shared_free + self.machine.shared_latency

    def _shuffle(self, warp: Warp, step: Step, now: float) -> float:
        return self._shared_free + self.machine.shuffle_latency

    def _load(self, warp: Warp, step: Step, now: float) -> float:
        return self._flight.request(self._shared_free, step.place.amount)

    def _store(self, warp: Warp, step: Step, now: float) -> float:
        done = self._load(warp, step, now)
        self._result.stored = max(self._result.stored, done)
        return done

    def _copy(self, warp: Warp, step: Step, now: float) -> float:
        warp.open_copies = max(warp.open_copies, self._load(warp, step, now))
        return self._shared_free

    def _box(self, warp: Warp, step: Step, now: float) -> float:
        self._wake(warp.block.add_box(self._load(warp, step, now)))
        return self._shared_free

    def _group(self, warp: Warp, step: Step, now: float) -> float:
        warp.groups.append(max(now, self._free[warp.scheduler][TENSOR]) + step.clocks)
        return now

    def _barrier(self, warp: Warp, step: Step, now: float) -> None:
        self._wake(warp.block.arrive(warp, now + self.machine.barrier))

    def _cluster(self, warp: Warp, step: Step, now: float) -> None:
        warp.resume(now + self.machine.cluster_barrier, Wait.BARRIER)

    def _fence(self, warp: Warp, step: Step, now: float) -> None:
        warp.resume(now + self.machine.l2_latency, Wait.MEMORY)

    def _commit(self, warp: Warp, step: Step, now: float) -> None:
        warp.copies.append(warp.open_copies)
        warp.resume(now, Wait.ISSUE)

    def _wait_copies(self, warp: Warp, step: Step, now: float) -> None:
        warp.resume(_done(warp.copies, step.place.amount), Wait.MEMORY)

    def _wait_groups(self, warp: Warp, step: Step, now: float) -> None:
        warp.resume(_done(warp.groups, step.place.amount), Wait.PIPE)

    def _expect(self, warp: Warp, step: Step, now: float) -> None:
        boxes = self._boxes.get(warp.at - 1, 0)
        warp.resume(now, Wait.ISSUE)
        self._wake(warp.block.begin_fill(boxes, now))

    def _wait_full(self, warp: Warp, step: Step, now: float) -> None:
        if step.number in self.route.producing:
            if warp.block.wait_empty(warp):
                warp.resume(now, Wait.ISSUE)
        elif (filled := warp.block.wait_full(warp)) is not None:
            warp.resume(filled, Wait.MEMORY)

    def _release(self, warp: Warp, step: Step, now: float) -> None:
        warp.resume(now, Wait.ISSUE)
        self._wake(warp.block.release(now + self.machine.barrier))

    def _wake(self, warps: Sequence[Warp]) -> None:
        for warp in warps:
            if warp.ready < inf:
                self._schedule(warp.scheduler, warp.ready)

    def _end(self, warp: Warp, now: float) -> None:
        """Remove a warp that has ended; start the next block in place of a block that has ended."""
        self._warps[warp.scheduler].remove(warp)
        self._last[warp.scheduler] = None
        self._number_of_warps -= 1
        self._result.issued += len(warp.route)
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
