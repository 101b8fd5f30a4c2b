# SPDX-License-Identifier: Apache-2.0
"""
The frame of all searches: ask for a schedule, have it measured, tell what it came to, until a limit
is reached or there is nothing left.

    for trial in trials(Mcts(space.root), submit, Limits(budget=200)):
        ...  # keep trial.measurement; the next one begins afterwards

The first schedule is the default one. The best so far is never slower than that, where it could be
measured. Several can be under way at once; with one at a time and a fixed seed a search does the
same every time.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from math import inf
from typing import NamedTuple, Protocol

from tilewright.tuning.measurement import Measurement
from tilewright.tuning.search.tree import Node


class Search(Protocol):
    """Says what to try next."""

    def ask(self) -> Node | None:
        """
        Return a leaf; at first that of the default schedule. None if there is nothing to try:
        nothing at all, or not until the search is told of what it has asked for.
        """
        ...

    def tell(self, leaf: Node, measurement: Measurement) -> None:
        """What a leaf came to that was asked for."""
        ...


class Limits(NamedTuple):
    """When to stop; with none of them, when there is nothing left."""

    budget: int | None = None
    """Schedules that are measured."""
    seconds: float | None = None
    """After which no more begin."""
    patience: int | None = None
    """Schedules that are measured after the best one."""


class Trial(NamedTuple):
    """A schedule that was measured."""

    number: int
    """From 1; 0 for one that was known before."""
    leaf: Node
    measurement: Measurement
    best: Measurement
    """The fastest so far; without a time if there is none."""


def trials(
    search: Search,
    submit: Callable[[Node], Future[Measurement]],
    limits: Limits = Limits(),
    *,
    slots: int = 1,
    known: Mapping[str, Measurement] | None = None,
) -> Iterator[Trial]:
    """
    What is measured, as it comes; up to `slots` at once. What is `known`, by schedule, is not
    measured again, comes when it is asked for, and counts towards no limit.
    """
    run = _Run(search, submit, limits, slots, {} if known is None else known)
    while True:
        yield from run.ask()
        if not run.under_way:
            return
        yield from run.gather()


class _Run:
    """How far a search has come."""

    def __init__(
        self,
        search: Search,
        submit: Callable[[Node], Future[Measurement]],
        limits: Limits,
        slots: int,
        known: Mapping[str, Measurement],
    ):
        self.search, self.submit, self.limits, self.slots = search, submit, limits, slots
        self.known = known
        self.under_way: dict[Future[Measurement], Node] = {}
        self.measured: dict[str, Measurement] = {}
        self.began = time.monotonic()
        self.asked = 0
        self.best: Measurement | None = None
        self.best_at = 0
        """How many were measured when the best was found."""

    def ask(self) -> Iterator[Trial]:
        """Have schedules measured until all slots are taken; what is known comes at once."""
        while self._may_ask() and (leaf := self.search.ask()) is not None:
            schedule = schedule_of(leaf)
            if schedule in self.measured:
                self.search.tell(leaf, self.measured[schedule])
            elif schedule in self.known:
                self.measured[schedule] = self.known[schedule]
                yield self._told(0, leaf, self.known[schedule])
            else:
                self.under_way[self.submit(leaf)] = leaf
                self.asked += 1

    def gather(self) -> Iterator[Trial]:
        """Wait until something is done; what is done, in the order in which it was begun."""
        done, _ = wait(self.under_way, return_when=FIRST_COMPLETED)
        for future in [future for future in self.under_way if future in done]:
            leaf, measurement = self.under_way.pop(future), future.result()
            self.measured[schedule_of(leaf)] = measurement
            yield self._told(self.asked - len(self.under_way), leaf, measurement)

    def _may_ask(self) -> bool:
        budget, seconds, patience = self.limits
        slots = self.slots if self.measured else 1  # nothing is measured before the default
        return (
            len(self.under_way) < slots
            and (budget is None or self.asked < budget)
            and (seconds is None or time.monotonic() - self.began < seconds)
            and (patience is None or self._since_best() < patience)
        )

    def _since_best(self) -> int:
        return self.asked - len(self.under_way) - self.best_at

    def _told(self, number: int, leaf: Node, measurement: Measurement) -> Trial:
        self.search.tell(leaf, measurement)
        if self.best is None or microseconds(measurement) < microseconds(self.best):
            self.best, self.best_at = measurement, self.asked - len(self.under_way)
        return Trial(number, leaf, measurement, self.best)


def at_once(evaluate: Callable[[Node], Measurement]) -> Callable[[Node], Future[Measurement]]:
    """What measures in this thread, as `trials` wants it."""

    def submit(leaf: Node) -> Future[Measurement]:
        future = Future[Measurement]()
        future.set_result(evaluate(leaf))
        return future

    return submit


def schedule_of(leaf: Node) -> str:
    """Return the schedule that a leaf has."""
    assert leaf.schedule is not None
    return leaf.schedule


def microseconds(measurement: Measurement) -> float:
    """Return the time; what has none is slower than all others."""
    return inf if measurement.us is None else measurement.us
