# SPDX-License-Identifier: Apache-2.0
"""Greedy search for the smallest program that fails."""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from math import inf
from typing import TypeVar

T = TypeVar("T")


@dataclass
class Attempts:
    """Number of smaller programs that may still be tried."""

    left: float = inf

    def smallest(
        self,
        program: T,
        smaller: Callable[[T], Iterable[T]],
        fails: Callable[[T], bool],
        key: Callable[[T], Hashable],
    ) -> T:
        """
        Return a program that fails; none of those that `smaller` makes of it does, unless the
        attempts are used up. Programs with an equal `key` are tried once.
        """
        seen = {key(program)}
        found: T | None = program
        while found is not None:
            program = found
            found = next(
                (each for each in smaller(program) if self._try(each, key, fails, seen)), None
            )
        return program

    def _try(
        self,
        program: T,
        key: Callable[[T], Hashable],
        fails: Callable[[T], bool],
        seen: set[Hashable],
    ) -> bool:
        if self.left == 0 or (known := key(program)) in seen:
            return False
        seen.add(known)
        self.left -= 1
        return fails(program)
