# SPDX-License-Identifier: Apache-2.0
"""
Greedy search by a model: the schedule with the shortest estimated time comes first.

For each schedule that was asked for, the search examines the schedules that differ from it in one
decision and take best guesses afterwards. The fastest of all examined schedules, by the model, is
next. Measurements have no influence.
"""

from collections.abc import Callable
from heapq import heappop, heappush

from tilewright.tuning.measurement import Measurement
from tilewright.tuning.search.tree import Node, Visit, best_guess, descend

Model = Callable[[Node], float]
"""Function that estimates the time of a leaf."""


class Greedy:
    """Search in the order of a model's estimates."""

    def __init__(self, root: Node, model: Model):
        self._model = model
        self._looked_at: list[tuple[float, int, Visit, Visit]] = []
        """
        Heap of estimate, number to order equal ones, leaf, and the node where the leaf deviates.
        """
        self._count = 0
        self._next = Visit(root)
        self._look_at(self._next)

    def ask(self) -> Node | None:
        """Return the next leaf, at first that of best guesses; None if there is none."""
        if not self._looked_at:
            return None
        _, _, leaf, since = heappop(self._looked_at)
        for visit in leaf.lineage():
            if visit is since:
                break
            self._look_at_siblings(visit)
        return leaf.node

    def tell(self, leaf: Node, measurement: Measurement) -> None:
        """Ignore the measurement; only the model counts."""

    def _look_at_siblings(self, visit: Visit) -> None:
        assert visit.parent is not None
        for other in visit.parent.children:
            if other is not visit:
                self._look_at(other)

    def _look_at(self, start: Visit) -> None:
        """Estimate the leaf that best guesses reach from `start`, if there is one."""
        leaf = descend(start, best_guess)
        if leaf is not None:
            self._count += 1
            heappush(self._looked_at, (self._model(leaf.node), self._count, leaf, start))
