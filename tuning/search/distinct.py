# SPDX-License-Identifier: Apache-2.0
"""A search that skips leaves with the identity of a measured leaf."""

from collections.abc import Callable, Hashable

from tilewright.tuning.measurement import Measurement
from tilewright.tuning.search.frame import Search
from tilewright.tuning.search.tree import Node

_MOST_MISSES = 50
"""Consecutive known leaves after which the search gives up."""


class Distinct:
    """
    A wrapper of `search` that skips its leaves with a known identity: the search gets the
    measurement of the equal leaf at once.
    """

    def __init__(self, search: Search, identity: Callable[[Node], Hashable]):
        self._search, self._identity = search, identity
        self._asked: dict[Node, Hashable] = {}
        self._measured: dict[Hashable, Measurement] = {}

    def ask(self) -> Node | None:
        """Return a leaf whose identity was not measured, or None."""
        for _ in range(_MOST_MISSES):
            if (leaf := self._search.ask()) is None:
                return None
            identity = self._identity(leaf)
            if identity not in self._measured:
                self._asked[leaf] = identity
                return leaf
            self._search.tell(leaf, self._measured[identity])
        return None

    def tell(self, leaf: Node, measurement: Measurement) -> None:
        """Record the measurement for its identity, and pass it on to the search."""
        self._measured[self._asked.pop(leaf)] = measurement
        self._search.tell(leaf, measurement)
