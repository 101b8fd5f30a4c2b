# SPDX-License-Identifier: Apache-2.0
"""
The driver of all searches: ask for a schedule, submit it for measurement, report the result, until
a limit is reached or no schedule remains.

    for trial in trials(Mcts(space.root), submit, Limits(budget=200)):
        ...  # keep trial.measurement; the next one begins afterwards

The first schedule is the default one. The best schedule is never slower than the default, if that
can be measured. Several measurements can run at once. With one at a time and a fixed seed, a search
is deterministic.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from math import inf
from typing import NamedTuple, Protocol

from tilewright.tuning.measurement import Measurement
from tilewright.tuning.search.tree import Node


class Search(Protocol):
    """Protocol of a search, which chooses the next schedule to try."""

    def ask(self) -> Node | None:
        """
        Return a leaf, at first that of the default schedule. Returns None if no leaf remains, or
        none until pending results are reported.
        """
        ...

    def tell(self, leaf: Node, measurement: Measurement) -> None:
        """Report the measurement of a leaf that was asked for."""
        ...


class Limits(NamedTuple):
    """Limits of a search; without any, it ends when no schedule remains."""

    budget: int | None = None
    """Number of schedules to measure, or None."""
    seconds: float | None = None
    """Seconds after which no more measurements begin, or None."""
    patience: int | None = None
    """Number of measurements without a new best after which the search stops, or None."""


class Trial(NamedTuple):
    """A measured schedule."""

    number: int
    """Number of the measurement, from 1; 0 for a schedule that was known before."""
    leaf: Node
    measurement: Measurement
    best: Measurement
    """Fastest measurement so far; it has no time if none has."""


def trials(
    search: Search,
    submit: Callable[[Node], Future[Measurement]],
    limits: Limits = Limits(),
    *,
    slots: int = 1,
    known: Mapping[str, Measurement] | None = None,
) -> Iterator[Trial]:
    """
    Yield a trial for each schedule when its measurement arrives; up to `slots` schedules are
    measured at once. A schedule in `known` is not measured again. Its measurement is yielded when
    the search asks for it, and counts towards no limit.
    """
    run = _Run(search, submit, limits, slots, {} if known is None else known)
    while True:
        yield from run.ask()
        if not run.under_way:
            return
        yield from run.gather()


class _Run:
    """State of a running search."""

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
        """Number of measurements when the best one was found."""

    def ask(self) -> Iterator[Trial]:
        """
        Ask the search for schedules and submit them until all slots are in use. Yield those whose
        measurement is known at once.
        """
        while self._may_ask() and (leaf := self.search.ask()) is not None:
            schedule = schedule_of(leaf)
            if schedule in self.measured:
                self.search.tell(leaf, self.measured[schedule])
            elif schedule in self.known:
                self.measured[schedule] = self.known[schedule]
                yield self._reported(0, leaf, self.known[schedule])
            else:
                self.under_way[self.submit(leaf)] = leaf
                self.asked += 1

    def gather(self) -> Iterator[Trial]:
        """Wait for a measurement; yield the finished ones in the order of their submission."""
        done, _ = wait(self.under_way, return_when=FIRST_COMPLETED)
        for future in [future for future in self.under_way if future in done]:
            leaf, measurement = self.under_way.pop(future), future.result()
            self.measured[schedule_of(leaf)] = measurement
            yield self._reported(self.asked - len(self.under_way), leaf, measurement)

    def _may_ask(self) -> bool:
        budget, seconds, patience = self.limits
        slots = self.slots if self.measured else 1  # the default is measured first
        return (
            len(self.under_way) < slots
            and (budget is None or self.asked < budget)
            and (seconds is None or time.monotonic() - self.began < seconds)
            and (patience is None or self._since_best() < patience)
        )

    def _since_best(self) -> int:
        return self.asked - len(self.under_way) - self.best_at

    def _reported(self, number: int, leaf: Node, measurement: Measurement) -> Trial:
        self.search.tell(leaf, measurement)
        if self.best is None or microseconds(measurement) < microseconds(self.best):
            self.best, self.best_at = measurement, self.asked - len(self.under_way)
        return Trial(number, leaf, measurement, self.best)


def at_once(evaluate: Callable[[Node], Measurement]) -> Callable[[Node], Future[Measurement]]:
    """
    Return a function `submit` for `trials` that calls `evaluate` in this thread, and returns a
    completed future.
    """

    def submit(leaf: Node) -> Future[Measurement]:
        future = Future[Measurement]()
        future.set_result(evaluate(leaf))
        return future

    return submit


def schedule_of(leaf: Node) -> str:
    """Return the schedule of a leaf."""
    assert leaf.schedule is not None
    return leaf.schedule


def microseconds(measurement: Measurement) -> float:
    """Return the time in microseconds; infinity for a measurement without a time."""
    return inf if measurement.us is None else measurement.us
