# SPDX-License-Identifier: Apache-2.0
"""How many leaves a tree has, by random ways through it."""

from typing import Any

import pytest

from tilewright.tools.tune.space_size import size_of


class Tree:
    """A node; a leaf has a schedule."""

    def __init__(self, label: str, *children: "Tree", schedule: str | None = None):
        self.label = label
        self.children = children
        self.schedule = schedule


class Space:
    """What has a root."""

    def __init__(self, root: Any):
        self.root = root


def leaf(label: str) -> Tree:
    """A schedule."""
    return Tree(label, schedule="tileify")


def test_where_all_ways_are_alike_the_number_is_exact() -> None:
    branches = [Tree(f"a m={m}", *(leaf(f"b n={n}") for n in range(3))) for m in (1, 2)]
    space: Any = Space(Tree("", *branches))
    size = size_of(space, seed=0, ways=7)
    assert size.schedules == 6
    assert size.choices == {"a": [2] * 7, "b": [3] * 7}


def test_dead_ends_are_no_schedules() -> None:
    space: Any = Space(Tree("", leaf("a m=1"), Tree("a m=2"), leaf("left out"), leaf("a m=3")))
    assert size_of(space, seed=0, ways=400).schedules == pytest.approx(3, rel=0.1)
