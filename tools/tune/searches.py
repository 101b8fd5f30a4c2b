# SPDX-License-Identifier: Apache-2.0
"""The searches, by the names that `--search` takes."""

from collections.abc import Callable, Mapping

from tilewright.tuning.search.frame import Search
from tilewright.tuning.search.mcts import Mcts
from tilewright.tuning.search.random_search import RandomSearch
from tilewright.tuning.space import Space

SEARCHES: Mapping[str, Callable[[Space, int], Search]] = {
    "mcts": lambda space, seed: Mcts(space.root, seed),
    "random": lambda space, seed: RandomSearch(space.root, seed),
}
"""What searches a space, beginning with a seed."""
