# SPDX-License-Identifier: Apache-2.0
"""
Choice of the group of threads that runs next.

Threads at the same instruction run together, and the group at the lowest instruction goes first:
this order is the fastest. In other orders (`Turns`), teams, which are warps or blocks, take turns.
A team runs for as long as it can, or only to a write that others may poll.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tilewright.codegen.simulator.lanes import Lanes, compact, merge


@dataclass(frozen=True, slots=True)
class Turns:
    """
    Rule for the order in which teams of `width` lanes run: by their numbers, or backwards if
    `last_first` is true.
    """

    width: int
    last_first: bool = False
    yields: bool = False
    """True if a team stops before each write that others may poll, and lets all other teams run."""
    pauses: bool = False
    """
    True if a team stops after each write that others may poll, and lets all other teams run; odd
    teams run first.
    """

    @property
    def lets_others_poll(self) -> bool:
        """
        True if polling teams get one turn whenever a team stops at a write that they may poll.
        """
        return self.yields or self.pauses

    def rank(self, team: int, teams: int) -> int:
        """Return the place of a team in the order, with at most `teams` teams."""
        if self.pauses:
            return team // 2 + (team + 1) % 2 * teams
        return teams - team if self.last_first else team


class Group(NamedTuple):
    """
    Group of lanes that continue at a place. `next` is the next place where other lanes of their
    team are, or None.
    """

    place: int
    lanes: Lanes
    next: int | None


class Groups:
    """Groups of a batch that can run; `places` is the number of instructions."""

    def __init__(self, lanes: int, places: int, turns: Turns | None):
        self._lanes = lanes
        self._places = places + 1
        self._turns = turns
        self._groups: dict[int, list[Lanes]] = {}
        """
        Waiting lanes by place. If teams take turns, the key combines the team's rank and the place.
        """

    def __bool__(self) -> bool:
        return bool(self._groups)

    def add(self, place: int, lanes: Lanes) -> None:
        """Add lanes to the groups that can run, at the instruction where they continue."""
        if self._turns is None:
            self._groups.setdefault(place, []).append(lanes)
            return
        numbers = lanes.numbers()
        teams = numbers // self._turns.width
        for team in np.unique(teams).tolist():
            key = self._turns.rank(team, self._lanes) * self._places + place
            self._groups.setdefault(key, []).append(compact(numbers[teams == team]))

    def take(self) -> Group:
        """
        Remove and return the group that runs next; its caller adds its lanes again where they
        continue.
        """
        key = min(self._groups)
        lanes = merge(self._groups.pop(key), self._lanes)
        rank, place = divmod(key, self._places)
        after = min(self._groups, default=None)
        if after is None or after // self._places != rank:
            return Group(place, lanes, None)
        return Group(place, lanes, after % self._places)
