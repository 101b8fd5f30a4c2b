# SPDX-License-Identifier: Apache-2.0
"""Search algorithms, by the names that `--search` accepts."""

from collections.abc import Callable, Mapping

from tilewright.tuning.search.evolution import Evolution
from tilewright.tuning.search.frame import Search
from tilewright.tuning.search.greedy import Greedy, Model
from tilewright.tuning.search.mcts import Mcts
from tilewright.tuning.search.random_search import RandomSearch
from tilewright.tuning.search.tree import Node

SEARCHES: Mapping[str, Callable[[Node, Model, int], Search]] = {
    "mcts": lambda root, model, seed: Mcts(root, seed),
    "random": lambda root, model, seed: RandomSearch(root, seed),
    "greedy": lambda root, model, seed: Greedy(root, model),
    "evolution": lambda root, model, seed: Evolution(root, seed),
}
"""
Functions that create a search, by the search's name; their arguments are the tree's root, a model
and a seed. Only the greedy search uses the model; the others use the seed.
"""
