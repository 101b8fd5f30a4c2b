# SPDX-License-Identifier: Apache-2.0
"""Conflicting events of a random kernel, by one vector clock for each thread."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .random_kernels import BLOCKS, WARP, WARPS, Event

_THREADS = WARP * WARPS * BLOCKS
_GLOBAL = -1
"""Home of a place in global memory; a place in shared memory has the number of its block."""
Vector = NDArray[np.int64]


@dataclass
class _Past:
    """
    Access to a place, from the time its thread starts it to each of its `ends`, (thread, time).

    `known` is the vector clock of the thread at the start; `fenced` is its value at the last proxy
    fence.
    """

    event: int
    thread: int
    place: tuple[int, int]
    what: str
    time: int
    known: Vector
    fenced: Vector
    is_async: bool = False
    is_bulk: bool = False
    ends: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])

    def is_before(self, other: "_Past") -> bool:
        """True if the other access starts after its thread learned that this one has ended."""
        return any(other.known[thread] >= time for thread, time in self.ends)

    def is_seen_by(self, other: "_Past") -> bool:
        """True if the other, later access sees this one through its proxy."""
        if not other.is_bulk or self.is_bulk or self.what == "read":
            return True
        return any(other.fenced[thread] >= time for thread, time in self.ends)


class _Threads:
    """Vector clocks of all threads."""

    def __init__(self) -> None:
        self.known = np.zeros((_THREADS, _THREADS), np.int64)
        self.fenced = np.zeros((_THREADS, _THREADS), np.int64)
        self.time = np.ones(_THREADS, np.int64)

    def tick(self, thread: int) -> int:
        """Advance the clock of the thread, and return the new time."""
        self.time[thread] += 1
        self.known[thread, thread] = self.time[thread]
        return int(self.time[thread])

    def joined(self, lanes: list[int]) -> tuple[Vector, Vector]:
        """Return the join of the vector clocks of the lanes, and of their fenced clocks."""
        return self.known[lanes].max(axis=0), self.fenced[lanes].max(axis=0)

    def learn(self, lanes: list[int], joined: tuple[Vector, Vector]) -> None:
        """Join vector clocks into those of the lanes."""
        self.known[lanes] = np.maximum(self.known[lanes], joined[0])
        self.fenced[lanes] = np.maximum(self.fenced[lanes], joined[1])


def conflicts(made: list[Event]) -> set[tuple[int, int]]:
    """Return the pairs of events that race."""
    done = _run(made)
    found: set[tuple[int, int]] = set()
    for number, a in enumerate(done):
        for b in done[:number]:
            if a.place == b.place and _races(a, b):
                found.add((b.event, a.event))
    return found


def _races(a: _Past, b: _Past) -> bool:
    if a.what == b.what == "read" or a.what == b.what == "update":
        return False
    if a.thread == b.thread and not (a.is_async or b.is_async):
        return False
    first, second = (b, a) if b.is_before(a) else (a, b)
    return not first.is_before(second) or not first.is_seen_by(second)


def _run(made: list[Event]) -> list[_Past]:
    threads = _Threads()
    done: list[_Past] = []
    joined: dict[tuple[str, int, int], tuple[Vector, Vector]] = {}
    for number, event in enumerate(made):
        first = event.block * WARPS
        lanes = [(first + warp) * WARP + lane for warp in event.warps for lane in event.lanes]
        for lane in lanes:
            threads.tick(lane)
        match event.what:
            case "read" | "write" | "update":
                home = event.home if event.home >= 0 else event.block
                place = _GLOBAL if event.is_global else home, event.cell
                done += [_access(threads, number, lane, place, event.what) for lane in lanes]
            case "sync" | "syncwarp":
                threads.learn(lanes, threads.joined(lanes))
            case "meet" if event.block < BLOCKS - 1:
                pass
            case "meet":
                all_lanes = list(range(_THREADS))
                threads.learn(all_lanes, threads.joined(all_lanes))
            case "arrive":
                joined["barrier", event.block, event.cell] = threads.joined(lanes)
            case "await":
                threads.learn(lanes, joined["barrier", event.block, event.cell])
                threads.learn(lanes, threads.joined(lanes))
            case "signal":
                joined["mbarrier", 0, event.cell] = threads.joined(lanes)
            case "release":
                joined["flag", 0, event.cell] = threads.joined(lanes)
            case "acquire":
                threads.learn(lanes, joined["flag", 0, event.cell])
            case "copy":
                done += _copies(threads, number, event, lanes[0])
            case "bulk":
                joined["mbarrier", 0, event.mbarrier] = threads.joined(lanes)
                done += _copies(threads, number, event, lanes[0])
            case "finish" | "wait":
                if event.what == "wait":
                    threads.learn(lanes, joined["mbarrier", 0, event.cell])
                _end(threads, done, made, event, lanes)
            case _:
                threads.fenced[lanes] = threads.known[lanes]
        for lane in lanes:
            threads.tick(lane)
    return done


def _access(threads: _Threads, number: int, lane: int, place: tuple[int, int], what: str) -> _Past:
    time = int(threads.time[lane])
    known, fenced = threads.known[lane].copy(), threads.fenced[lane].copy()
    return _Past(number, lane, place, what, time, known, fenced, ends=[(lane, time)])


def _copies(threads: _Threads, number: int, event: Event, lane: int) -> list[_Past]:
    """Return the read and the write of a copy, which has no end yet."""
    places = (_GLOBAL, event.source), (event.block, event.cell)
    both = [
        _access(threads, number, lane, place, what)
        for place, what in zip(places, ("read", "write"), strict=True)
    ]
    for each in both:
        each.ends, each.is_async, each.is_bulk = [], True, event.what == "bulk"
    return both


def _end(
    threads: _Threads, done: list[_Past], made: list[Event], event: Event, lanes: list[int]
) -> None:
    """End the copies that the lanes wait for."""
    for each in done:
        if not each.is_async or each.is_bulk != (event.what == "wait"):
            continue
        if each.is_bulk and made[each.event].mbarrier == event.cell:
            each.ends += [(lane, int(threads.time[lane])) for lane in lanes]
        elif not each.is_bulk and each.thread in lanes and not each.ends:
            each.ends = [(each.thread, int(threads.time[each.thread]))]
