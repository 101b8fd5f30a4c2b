# SPDX-License-Identifier: Apache-2.0
"""
Single-player Monte-Carlo tree search.

Each iteration walks from the root to a leaf. At a visited node it goes to the child with the
highest score. Of unvisited children, only the best guess is considered, as if it had the mean
reward of its siblings. At an unvisited node it mostly takes best guesses. The reward of the leaf is
added to all nodes on the way. The score of a child with n visits, whose parent has N visits, with
rewards r from 0 to 1 (the best so far), is

    max(r) + C sqrt(ln N / n) + sqrt((sum of r^2 - n mean(r)^2 + D) / n)

That is UCT with the maximum instead of the mean, since there is no opponent. The deviation is that
of single-player MCTS, which prefers nodes whose rewards vary and nodes with few visits (M. Schadd
et al., "Single-Player Monte-Carlo Tree Search", Computers and Games 2008). Leaves under measurement
count as visits without rewards, so that other leaves are asked for meanwhile.
"""

from collections.abc import Sequence
from math import log, sqrt
from random import Random

from tilewright.tuning.measurement import Measurement
from tilewright.tuning.search.rewards import Rewards
from tilewright.tuning.search.tree import Node, Tally, Visit, best_guess, descend

_BEST_GUESS = 0.75
"""
Probability of the best guess at an unvisited node; if it is not taken, of the next best guess.
"""


class Mcts:
    """
    Monte Carlo tree search that goes down to the child with the highest score at each node, and
    asks for the leaf that it reaches.

    A score is high for good results, for few visits and for varying results.
    """

    def __init__(self, root: Node, seed: int = 0, exploration: float = 0.4, deviation: float = 0.1):
        self.exploration, self.deviation = exploration, deviation
        self.root = Visit(root)
        """Visit of the root, from which all visits of the tree are reached."""
        self._random = Random(seed)
        self._rewards = Rewards()
        self._asked: dict[Node, Visit] = {}

    def ask(self) -> Node | None:
        """
        Return the leaf that scores lead to, at first that of best guesses; None if no leaf remains.
        """
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
            return self._by_rank(choices)
        fresh = [child for child in choices if child.is_fresh]
        return max(
            [*(child for child in choices if not child.is_fresh), *fresh[:1]],
            key=lambda child: self._score(visit, child),
        )

    def _by_rank(self, choices: Sequence[Visit]) -> Visit:
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
    """Return the deviation of rewards as a share of `best`; it is larger after few visits."""
    spread = rewards.squares - rewards.count * rewards.mean**2
    return sqrt((max(0.0, spread) / best**2 + constant) / visits)
