# SPDX-License-Identifier: Apache-2.0
"""
Single-player Monte-Carlo tree search.

Each time it goes from the root to a leaf. Where it has been before, it goes to the child with the
highest score; among those it has not been to, only the best guess is considered, as if it had come
to what its siblings do on average. Where it has not been, it mostly takes best guesses. What the
leaf comes to is added to all nodes on the way. The score of a child that was visited n times, its
parent N times, with rewards r from 0 to 1 (the best so far), is

    max(r) + C sqrt(ln N / n) + sqrt((sum of r^2 - n mean(r)^2 + D) / n)

That is UCT with the best instead of the mean, since nobody plays against us, and with the deviation
of single-player MCTS, which goes where rewards vary, and to nodes that were hardly looked at
(M. Schadd et al., "Single-Player Monte-Carlo Tree Search", Computers and Games 2008). Leaves that
are being measured count as visits without rewards, so that others are asked for meanwhile.
"""

from collections.abc import Sequence
from math import log, sqrt
from random import Random

from tilewright.tuning.measurement import Measurement
from tilewright.tuning.search.rewards import Rewards
from tilewright.tuning.search.tree import Node, Tally, Visit, best_guess, descend

_BEST_GUESS = 0.75
"""How often the best guess is taken where nothing is known; else the next best as often, and so on.
"""


class Mcts:
    """Asks for what promises most."""

    def __init__(self, root: Node, seed: int = 0, exploration: float = 0.4, deviation: float = 0.1):
        self.exploration, self.deviation = exploration, deviation
        self.root = Visit(root)
        """What is remembered of the tree."""
        self._random = Random(seed)
        self._rewards = Rewards()
        self._asked: dict[Node, Visit] = {}

    def ask(self) -> Node | None:
        """Return the leaf that scores lead to; at first that of best guesses."""
        leaf = descend(self.root, best_guess if self.root.is_fresh else self._choose)
        if leaf is None:
            return None
        for visit in leaf.lineage():
            visit.pending += 1
        self._asked[leaf.node] = leaf
        return leaf.node

    def tell(self, leaf: Node, measurement: Measurement) -> None:
        """Add the reward to all nodes on the way to the leaf."""
        reward = self._rewards.of(measurement)
        for visit in self._asked.pop(leaf).lineage():
            visit.pending -= 1
            visit.rewards.add(reward)

    def _choose(self, visit: Visit, choices: Sequence[Visit]) -> Visit:
        if visit.is_fresh:
            return self._likely(choices)
        fresh = [child for child in choices if child.is_fresh]
        return max(
            [*(child for child in choices if not child.is_fresh), *fresh[:1]],
            key=lambda child: self._score(visit, child),
        )

    def _likely(self, choices: Sequence[Visit]) -> Visit:
        for choice in choices[:-1]:
            if self._random.random() < _BEST_GUESS:
                return choice
        return choices[-1]

    def _score(self, parent: Visit, child: Visit) -> float:
        around = parent.rewards.count + parent.pending
        visits = max(1, child.rewards.count + child.pending)
        expected = child.rewards.best if child.rewards.count else parent.rewards.mean
        explored = self.exploration * sqrt(log(around) / visits)
        apart = deviation(child.rewards, visits, self._rewards.best, self.deviation)
        return expected / self._rewards.best + explored + apart


def deviation(rewards: Tally, visits: int, best: float, constant: float) -> float:
    """How far rewards lie apart, as shares of the `best`, and more where there are few."""
    spread = rewards.squares - rewards.count * rewards.mean**2
    return sqrt((max(0.0, spread) / best**2 + constant) / visits)
