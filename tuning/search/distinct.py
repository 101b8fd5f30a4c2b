# SPDX-License-Identifier: Apache-2.0
"""A search that asks for one of several leaves only, where all come to the same thing."""

from collections.abc import Callable, Hashable

from tilewright.tuning.measurement import Measurement
from tilewright.tuning.search.frame import Search
from tilewright.tuning.search.tree import Node

_IN_VAIN = 50
"""Leaves in a row that lead nowhere new, after which it gives up."""


class Distinct:
    """
    Asks for what `search` asks for, unless a leaf of the same identity was measured: then the
    search is told the same at once.
    """

    def __init__(self, search: Search, identity: Callable[[Node], Hashable]):
        self._search, self._identity = search, identity
        self._asked: dict[Node, Hashable] = {}
        self._measured: dict[Hashable, Measurement] = {}

    def ask(self) -> Node | None:
        """Return a leaf of an identity that was not measured."""
        for _ in range(_IN_VAIN):
            if (leaf := self._search.ask()) is None:
                return None
            identity = self._identity(leaf)
            if identity not in self._measured:
                self._asked[leaf] = identity
                return leaf
            self._search.tell(leaf, self._measured[identity])
        return None

    def tell(self, leaf: Node, measurement: Measurement) -> None:
        """Both the search and who comes to the same."""
        self._measured[self._asked.pop(leaf)] = measurement
        self._search.tell(leaf, measurement)
