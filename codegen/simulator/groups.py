# SPDX-License-Identifier: Apache-2.0
"""
Which group of threads runs next.

Threads at one instruction run together, and those that are behind go first: that is the quickest.
In another order each team, a warp or a block, runs for as long as it can before others do.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tilewright.codegen.simulator.lanes import Lanes, compact, merge


@dataclass(frozen=True, slots=True)
class Turns:
    """An order in which teams of `width` lanes run, the first or the last one first."""

    width: int
    last_first: bool = False
    yields: bool = False
    """True if a team lets all others go on before it writes what they may ask for."""
    pauses: bool = False
    """True if it does so after it has written; teams of odd numbers come first then."""

    @property
    def lets_others_ask(self) -> bool:
        """True if teams that ask do so once after each such write."""
        return self.yields or self.pauses

    def rank(self, team: int, teams: int) -> int:
        """Return where a team comes, of so many at most."""
        if self.pauses:
            return team // 2 + (team + 1) % 2 * teams
        return teams - team if self.last_first else team


class Group(NamedTuple):
    """Lanes at a place, and the next place where others of their team are, if any."""

    place: int
    lanes: Lanes
    next: int | None


class Groups:
    """All groups of a batch that can run; `places` is the number of instructions."""

    def __init__(self, lanes: int, places: int, turns: Turns | None):
        self._lanes = lanes
        self._places = places + 1
        self._turns = turns
        self._groups: dict[int, list[Lanes]] = {}
        """By place, and before that by the rank of the team."""

    def __bool__(self) -> bool:
        return bool(self._groups)

    def add(self, place: int, lanes: Lanes) -> None:
        """The lanes continue at an instruction."""
        if self._turns is None:
            self._groups.setdefault(place, []).append(lanes)
            return
        numbers = lanes.numbers()
        teams = numbers // self._turns.width
        for team in np.unique(teams).tolist():
            key = self._turns.rank(team, self._lanes) * self._places + place
            self._groups.setdefault(key, []).append(compact(numbers[teams == team]))

    def take(self) -> Group:
        """Return the group that runs next, which must tell where it goes."""
        key = min(self._groups)
        lanes = merge(self._groups.pop(key), self._lanes)
        rank, place = divmod(key, self._places)
        after = min(self._groups, default=None)
        if after is None or after // self._places != rank:
            return Group(place, lanes, None)
        return Group(place, lanes, after % self._places)
