# SPDX-License-Identifier: Apache-2.0
"""
Greedy on a model: what the model likes best comes first.

From each schedule that was asked for, those are looked at that decide one thing otherwise, and take
best guesses from there on. Of all that were looked at the fastest by the model is asked for next.
What it came to when it was measured changes nothing.
"""

from collections.abc import Callable
from heapq import heappop, heappush

from tilewright.tuning.measurement import Measurement
from tilewright.tuning.search.tree import Node, Visit, best_guess, descend

Model = Callable[[Node], float]
"""How long a leaf is thought to take."""


class Greedy:
    """Asks in the order of what a model thinks."""

    def __init__(self, root: Node, model: Model):
        self._model = model
        self._looked_at: list[tuple[float, int, Visit, Visit]] = []
        """What the model thinks, a number to tell equals apart, a leaf, and where it deviates."""
        self._count = 0
        self._next = Visit(root)
        self._look_at(self._next)

    def ask(self) -> Node | None:
        """Return the next leaf; at first that of best guesses."""
        if not self._looked_at:
            return None
        _, _, leaf, since = heappop(self._looked_at)
        for visit in leaf.lineage():
            if visit is since:
                break
            self._look_beside(visit)
        return leaf.node

    def tell(self, leaf: Node, measurement: Measurement) -> None:
        """The model is believed."""

    def _look_beside(self, visit: Visit) -> None:
        assert visit.parent is not None
        for other in visit.parent.children:
            if other is not visit:
                self._look_at(other)

    def _look_at(self, start: Visit) -> None:
        """The leaf that best guesses lead to from here, if there is one."""
        leaf = descend(start, best_guess)
        if leaf is not None:
            self._count += 1
            heappush(self._looked_at, (self._model(leaf.node), self._count, leaf, start))
