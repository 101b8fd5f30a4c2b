# SPDX-License-Identifier: Apache-2.0
"""Random search: each decision takes a uniformly random choice, and no leaf is repeated."""

from collections.abc import Sequence
from random import Random

from tilewright.tuning.measurement import Measurement
from tilewright.tuning.search.tree import Node, Visit, best_guess, descend


class RandomSearch:
    """Search that asks for random leaves."""

    def __init__(self, root: Node, seed: int = 0):
        self._root = Visit(root)
        self._random = Random(seed)
        self._choose = best_guess

    def ask(self) -> Node | None:
        """Return a leaf, at first that of best guesses; None if no leaf remains."""
        leaf = descend(self._root, self._choose)
        self._choose = self._any
        return None if leaf is None else leaf.node

    def tell(self, leaf: Node, measurement: Measurement) -> None:
        """Ignore the measurement."""

    def _any(self, visit: Visit, choices: Sequence[Visit]) -> Visit:
        return self._random.choice(choices)
