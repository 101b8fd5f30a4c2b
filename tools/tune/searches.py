# SPDX-License-Identifier: Apache-2.0
"""The searches, by the names that `--search` takes."""

from collections.abc import Callable, Mapping

from tilewright.tuning.evaluators.model import model
from tilewright.tuning.search.evolution import Evolution
from tilewright.tuning.search.frame import Search, microseconds
from tilewright.tuning.search.greedy import Greedy
from tilewright.tuning.search.mcts import Mcts
from tilewright.tuning.search.random_search import RandomSearch
from tilewright.tuning.space import Space


def _greedy(space: Space, seed: int) -> Search:
    """What the model likes best comes first, whoever measures it."""
    measure = model(space.target)
    return Greedy(space.root, lambda leaf: microseconds(measure(space.kernel(leaf))))


SEARCHES: Mapping[str, Callable[[Space, int], Search]] = {
    "mcts": lambda space, seed: Mcts(space.root, seed),
    "random": lambda space, seed: RandomSearch(space.root, seed),
    "greedy": _greedy,
    "evolution": lambda space, seed: Evolution(space.root, seed),
}
"""What searches a space, beginning with a seed."""
