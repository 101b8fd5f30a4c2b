# SPDX-License-Identifier: Apache-2.0
"""
How large a space of schedules is, without walking all of it.

Of the questions on the way to the default schedule the answers are counted. The number of leaves is
estimated by random probes: whoever goes down to a leaf and takes any of b1, b2, ... children gets
there with probability 1 / (b1 b2 ...), so the mean of that product is the number of leaves
(D. Knuth, "Estimating the Efficiency of Backtrack Programs", 1975). A few of the probes make up
most of the mean: it is good for the order of magnitude.
"""

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from tilewright.tuning.search.tree import Node


class Question(NamedTuple):
    """A decision on the way to the default schedule."""

    answers: Sequence[str]
    """The first is the default: `blockify-launch m=128`."""


class Sizes(NamedTuple):
    """What there is to choose from."""

    questions: Sequence[Question]
    """Those that the default schedule answers, in order."""
    schedules: float
    """About how many there are in all."""


def sizes(root: Node, probes: int = 100, seed: int = 0) -> Sizes:
    """How large the tree below `root` is; of each probe all passes are run."""
    random = Random(seed)
    estimate = sum(_probe(root, random) for _ in range(probes)) / probes
    return Sizes(_questions(root), estimate)


def _questions(node: Node) -> list[Question]:
    found: list[Question] = []
    while children := node.children:
        found.append(Question([child.label for child in children]))
        node = children[0]
    return found


def _probe(node: Node, random: Random) -> float:
    product = 1.0
    while children := node.children:
        product *= len(children)
        node = random.choice(children)
    return product if node.schedule is not None else 0.0
