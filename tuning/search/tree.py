# SPDX-License-Identifier: Apache-2.0
"""
What searches search: a tree of decisions, and what they remember of it.

A search sees of a tree what `Node` says. What it has asked for it closes, and with it every node
below which nothing is left: so no leaf is asked for twice, and a search knows when it is done.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol


class Node(Protocol):
    """A decision to be made; a leaf, where all are made; or a dead end."""

    @property
    def label(self) -> str:
        """What was decided last."""
        ...

    @property
    def children(self) -> Sequence["Node"]:
        """What can be decided, the best guess first. To find out may take a while."""
        ...

    @property
    def schedule(self) -> str | None:
        """What has been decided, of a leaf; else None."""
        ...


@dataclass
class Tally:
    """The rewards of all leaves below a node, as far as anyone asks."""

    count: int = 0
    total: float = 0.0
    squares: float = 0.0
    best: float = 0.0

    def add(self, reward: float) -> None:
        """One more."""
        self.count += 1
        self.total += reward
        self.squares += reward * reward
        self.best = max(self.best, reward)

    @property
    def mean(self) -> float:
        """0 where there are none."""
        return self.total / self.count if self.count else 0.0


class Visit:
    """A node that a search has come to, and what came of it."""

    def __init__(self, node: Node, parent: "Visit | None" = None):
        self.node = node
        self.parent = parent
        self.is_closed = False
        """Whether all leaves below were asked for."""
        self.pending = 0
        """Leaves below that were asked for, and nobody has told yet what they came to."""
        self.rewards = Tally()
        """What leaves below came to."""

    @cached_property
    def children(self) -> Sequence["Visit"]:
        """Of all children of the node, in order."""
        return [Visit(child, self) for child in self.node.children]

    @property
    def open_children(self) -> Sequence["Visit"]:
        """Those below which something is left."""
        return [child for child in self.children if not child.is_closed]

    @property
    def is_fresh(self) -> bool:
        """True if nobody has asked for anything below."""
        return not self.pending and not self.rewards.count

    def lineage(self) -> Iterator["Visit"]:
        """This one, and those on the way to it, the root last."""
        visit: Visit | None = self
        while visit is not None:
            yield visit
            visit = visit.parent

    def close(self) -> None:
        """Nothing is left here."""
        self.is_closed = True
        parent = self.parent
        if parent is not None and not parent.open_children:
            parent.close()


Chooser = Callable[[Visit, Sequence[Visit]], Visit]
"""Which of the open children of a node to go to."""


def descend(root: Visit, choose: Chooser) -> Visit | None:
    """Return the next leaf that `choose` leads to, closed now; None if none is left."""
    while not root.is_closed:
        visit = root
        while visit.children:
            visit = choose(visit, visit.open_children)
        visit.close()
        if visit.node.schedule is not None:
            return visit
    return None


def best_guess(visit: Visit, choices: Sequence[Visit]) -> Visit:
    """Return the first that is open."""
    return choices[0]
