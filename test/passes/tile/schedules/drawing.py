# SPDX-License-Identifier: Apache-2.0
"""Parts of random schedules: choices, and dimensions that are cut into axes."""

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, NamedTuple, TypeVar

from .elements import Array

T = TypeVar("T")


class Draw(NamedTuple):
    """Source of random choices from sequences, whose first item is the simplest."""

    choose: Callable[[Sequence[Any]], Any]

    def one(self, choices: Sequence[T]) -> T:
        """Return one of `choices`."""
        return self.choose(choices)

    def chance(self, of: int = 2) -> bool:
        """Return True with probability 1 / `of`."""
        return self.choose((False,) * (of - 1) + (True,))

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Return `items` in a random order."""
        rest, found = list(items), list[T]()
        while rest:
            found.append(rest.pop(self.choose(range(len(rest)))))
        return found


class Drawn(NamedTuple):
    """Random kernel, with inputs, expected results and allowed errors."""

    text: str
    inputs: Sequence[Array]
    expected: Sequence[Array]
    """Expected results, in float64 or integers."""
    allowed: Sequence[float]
    """Largest absolute error of each result that is computed in the kernel's own types."""


class Cut(NamedTuple):
    """
    Dimension of a tile, cut into axes of the launch: name, level and steps of each, outermost
    first.
    """

    axes: Sequence[tuple[str, str, int]]

    @property
    def size(self) -> int:
        """Number of elements of the tile along the dimension."""
        return prod(steps for _, _, steps in self.axes)

    @property
    def at(self) -> str:
        """Index in the tile that the axes give, as text."""
        factor, terms = 1, list[str]()
        for name, _, steps in reversed(self.axes):
            terms.append(f"{name} * {factor}" if factor > 1 else name)
            factor *= steps
        return " + ".join(reversed(terms)) or "0"


def cut(draw: Draw, *axes: tuple[str, str, int]) -> Cut:
    """Return a tile of `axes` in a random order; most axes of one step are dropped."""
    kept = [axis for axis in axes if axis[2] > 1 or draw.chance(5)]
    return Cut(kept if draw.chance() else draw.shuffled(kept))


def launch(draw: Draw, axes: Sequence[tuple[str, str, int]], roles: Mapping[str, str]) -> str:
    """Return the header of a launch over `axes` in a random order."""
    order = list(axes) if draw.chance() else draw.shuffled(axes)
    bound = [f"{n} = {level} {steps}{roles.get(n, '')}" for n, level, steps in order]
    blocks = draw.one(("", "", "", " min_blocks 1", " min_blocks 2"))
    return f"tile.launch ({', '.join(bound)}){blocks}"


def ceil(a: int, b: int) -> int:
    """Return `a / b`, rounded up."""
    return -(-a // b)
