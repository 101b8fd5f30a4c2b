# SPDX-License-Identifier: Apache-2.0
"""
An estimate of the size of a space of schedules, without a walk over all of it.

The answers to each question on the way to the default schedule are counted. Random probes estimate
the number of leaves. A probe that descends through nodes of b1, b2, ... children reaches its leaf
with probability 1 / (b1 b2 ...). The mean of the inverse is therefore the number of leaves (D.
Knuth, "Estimating the Efficiency of Backtrack Programs", 1975). A few probes make up most of the
mean, so only its order of magnitude is reliable.
"""

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from tilewright.tuning.search.tree import Node


class Question(NamedTuple):
    """A decision on the way to the default schedule."""

    answers: Sequence[str]
    """Possible answers, the default first: `blockify-launch m=128`."""


class Sizes(NamedTuple):
    """Size of a space of schedules."""

    questions: Sequence[Question]
    """Questions that the default schedule answers, in order."""
    schedules: float
    """Estimated number of schedules."""


def sizes(root: Node, probes: int = 100, seed: int = 0) -> Sizes:
    """Estimate the size of the tree below `root`; each probe runs all passes."""
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
