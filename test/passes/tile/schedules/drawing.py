# SPDX-License-Identifier: Apache-2.0
"""What drawn schedules are made of: choices, and axes that are cut up."""

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, NamedTuple, TypeVar

from .elements import Array

T = TypeVar("T")


class Draw(NamedTuple):
    """Draws from sequences; what comes first in one is the simplest."""

    choose: Callable[[Sequence[Any]], Any]

    def one(self, choices: Sequence[T]) -> T:
        """One of `choices`."""
        return self.choose(choices)

    def chance(self, of: int = 2) -> bool:
        """True once in `of` times."""
        return self.choose((False,) * (of - 1) + (True,))

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """`items` in some order."""
        rest, found = list(items), list[T]()
        while rest:
            found.append(rest.pop(self.choose(range(len(rest)))))
        return found


class Drawn(NamedTuple):
    """A kernel, inputs to run it with, and what it should compute of them."""

    text: str
    inputs: Sequence[Array]
    expected: Sequence[Array]
    """In float64, or of integers."""
    allowed: Sequence[float]
    """How far from that each result may be where it is computed in the kernel's own types."""


class Cut(NamedTuple):
    """A dimension of a tile, cut into axes of the launch: name, level, steps, outermost first."""

    axes: Sequence[tuple[str, str, int]]

    @property
    def size(self) -> int:
        """The elements of the tile."""
        return prod(steps for _, _, steps in self.axes)

    @property
    def at(self) -> str:
        """Where in the tile the axes are."""
        factor, terms = 1, list[str]()
        for name, _, steps in reversed(self.axes):
            terms.append(f"{name} * {factor}" if factor > 1 else name)
            factor *= steps
        return " + ".join(reversed(terms)) or "0"


def cut(draw: Draw, *axes: tuple[str, str, int]) -> Cut:
    """Return a tile of those axes in some order; those of one step are mostly left out."""
    kept = [axis for axis in axes if axis[2] > 1 or draw.chance(5)]
    return Cut(kept if draw.chance() else draw.shuffled(kept))


def launch(draw: Draw, axes: Sequence[tuple[str, str, int]], roles: Mapping[str, str]) -> str:
    """Return the header of a launch over `axes` in some order."""
    order = list(axes) if draw.chance() else draw.shuffled(axes)
    bound = [f"{n} = {level} {steps}{roles.get(n, '')}" for n, level, steps in order]
    blocks = draw.one(("", "", "", " min_blocks 1", " min_blocks 2"))
    return f"tile.launch ({', '.join(bound)}){blocks}"


def ceil(a: int, b: int) -> int:
    """`a / b`, rounded up."""
    return -(-a // b)
