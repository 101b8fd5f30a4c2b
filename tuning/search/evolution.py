# SPDX-License-Identifier: Apache-2.0
"""
Evolution, by Nevergrad: a baseline that knows nothing of trees.

A genome is a row of numbers from 0 to 1, one for each decision on the way down; so many parts of
the children lie before the one that is taken. 0 is the best guess everywhere. What follows a
decision is expressed by the same genes, whatever they meant to the parents.

Nevergrad comes with `pip install tilewright[tune]`.
"""

from collections import deque
from importlib import import_module
from typing import Any

from tilewright.errors import UsageError
from tilewright.tuning.measurement import Measurement
from tilewright.tuning.search.rewards import Rewards
from tilewright.tuning.search.tree import Node

_GENES = 40
"""Schedules have fewer decisions; of those that had more, the last would be best guesses."""

_IN_VAIN = 200
"""Genomes in a row that lead nowhere new, after which it gives up."""


class Evolution:
    """Asks for what genomes spell that descend from good ones."""

    def __init__(self, root: Node, seed: int = 0, budget: int = 1000, optimizer: str = "DE"):
        self._root = root
        self._optimizer = _optimizer(optimizer, budget, seed)
        self._rewards = Rewards()
        self._asked: dict[Node, deque[Any]] = {}
        self._known: dict[Node, float] = {}

    def ask(self) -> Node | None:
        """Return a leaf that was not asked for; at first that of best guesses."""
        for _ in range(_IN_VAIN):
            genome = self._optimizer.ask()
            leaf = _expressed(self._root, genome.value)
            if leaf.schedule is None:
                self._optimizer.tell(genome, 0.0)
            elif leaf in self._known:
                self._optimizer.tell(genome, self._known[leaf])
            elif leaf in self._asked:
                self._asked[leaf].append(genome)
            else:
                self._asked[leaf] = deque([genome])
                return leaf
        return None

    def tell(self, leaf: Node, measurement: Measurement) -> None:
        """The less, the fitter."""
        self._known[leaf] = -self._rewards.of(measurement)
        for genome in self._asked.pop(leaf):
            self._optimizer.tell(genome, self._known[leaf])


def _expressed(root: Node, genes: Any) -> Node:
    node = root
    for gene in genes:
        if not node.children:
            break
        node = node.children[min(int(gene * len(node.children)), len(node.children) - 1)]
    while node.children:
        node = node.children[0]
    return node


def _optimizer(name: str, budget: int, seed: int) -> Any:
    """Nevergrad's of that name; it begins with the best guesses."""
    try:
        ng: Any = import_module("nevergrad")
    except ImportError as err:
        remedy = "pip install tilewright[tune]"
        raise UsageError("evolution needs Nevergrad", remedy=remedy) from err
    genes = ng.p.Array(shape=(_GENES,), lower=0.0, upper=1.0)
    genes.random_state.seed(seed)
    found = ng.optimizers.registry[name](parametrization=genes, budget=budget)
    found.suggest([0.0] * _GENES)
    return found
