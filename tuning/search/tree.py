# SPDX-License-Identifier: Apache-2.0
"""
The tree of decisions that searches explore, and the statistics that they keep of it.

A search sees a tree through `Node`. It closes each leaf that it asks for, and each node without
open leaves below. Thus no leaf is asked for twice, and a search detects when it is done.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Protocol, TypeVar, cast


class Node(Protocol):
    """A decision to make; a leaf, where all are made; or a dead end."""

    @property
    def label(self) -> str:
        """Description of the last decision."""
        ...

    @property
    def children(self) -> Sequence["Node"]:
        """Possible decisions, the best guess first. Computing them may take a while."""
        ...

    @property
    def schedule(self) -> str | None:
        """Schedule of a leaf, or None."""
        ...


AnyNode = TypeVar("AnyNode", bound=Node)


def random_leaf(node: AnyNode, random: Random) -> AnyNode:
    """Return the end of a random walk from `node`: a leaf, or a dead end."""
    while children := node.children:
        node = cast(AnyNode, random.choice(children))
    return node


@dataclass
class Tally:
    """Summary of the rewards of all measured leaves below a node."""

    count: int = 0
    total: float = 0.0
    squares: float = 0.0
    best: float = 0.0

    def add(self, reward: float) -> None:
        """Add a reward."""
        self.count += 1
        self.total += reward
        self.squares += reward * reward
        self.best = max(self.best, reward)

    @property
    def mean(self) -> float:
        """Mean reward; 0 if there is none."""
        return self.total / self.count if self.count else 0.0


class Visit:
    """A node that a search has reached, with the rewards below it."""

    def __init__(self, node: Node, parent: "Visit | None" = None):
        self.node = node
        self.parent = parent
        self.is_closed = False
        """True if all leaves below were asked for."""
        self.pending = 0
        """Number of leaves below that were asked for and are not measured yet."""
        self.rewards = Tally()
        """Rewards of the leaves below."""

    @cached_property
    def children(self) -> Sequence["Visit"]:
        """Visits of the node's children, in order."""
        return [Visit(child, self) for child in self.node.children]

    @property
    def open_children(self) -> Sequence["Visit"]:
        """Children with open leaves below."""
        return [child for child in self.children if not child.is_closed]

    @property
    def is_fresh(self) -> bool:
        """True if no leaf below was asked for."""
        return not self.pending and not self.rewards.count

    def lineage(self) -> Iterator["Visit"]:
        """Yield this visit and its ancestors, the root last."""
        visit: Visit | None = self
        while visit is not None:
            yield visit
            visit = visit.parent

    def close(self) -> None:
        """Mark the node as exhausted, and then ancestors without open children."""
        self.is_closed = True
        parent = self.parent
        if parent is not None and not parent.open_children:
            parent.close()


Chooser = Callable[[Visit, Sequence[Visit]], Visit]
"""Function that chooses one of the open children of a node."""


def descend(root: Visit, choose: Chooser) -> Visit | None:
    """
    Return the open leaf that `choose` leads to from `root`, and close it; None if no leaf remains.
    Dead ends on the way are closed.
    """
    while not root.is_closed:
        visit = root
        while visit.children:
            visit = choose(visit, visit.open_children)
        visit.close()
        if visit.node.schedule is not None:
            return visit
    return None


def best_guess(visit: Visit, choices: Sequence[Visit]) -> Visit:
    """Return the first of the open children `choices`, which are ordered by guess."""
    return choices[0]
