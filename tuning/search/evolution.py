# SPDX-License-Identifier: Apache-2.0
"""
Evolution, by Nevergrad: a baseline without knowledge of the tree.

A genome is a row of numbers from 0 to 1, one for each decision on the way down. A gene is the share
of the children that precede the chosen one, so that 0 is always the best guess. The decisions after
a changed one use the same genes, which may have had another meaning in the parents.

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
"""
Number of genes; deeper decisions than this would take best guesses, but no schedule is as deep.
"""

_MOST_MISSES = 200
"""Consecutive genomes without a new leaf after which the search gives up."""


class Evolution:
    """Search among leaves whose genomes descend from good ones."""

    def __init__(self, root: Node, seed: int = 0, budget: int = 1000, optimizer: str = "DE"):
        self._root = root
        self._optimizer = _optimizer(optimizer, budget, seed)
        self._rewards = Rewards()
        self._asked: dict[Node, deque[Any]] = {}
        self._known: dict[Node, float] = {}

    def ask(self) -> Node | None:
        """Return a leaf that was not asked for, at first that of best guesses; None to give up."""
        for _ in range(_MOST_MISSES):
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
        """Report the negative reward to Nevergrad, which minimises."""
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
    """Return Nevergrad's optimizer of that name; it begins with the best guesses."""
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
