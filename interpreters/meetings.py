# SPDX-License-Identifier: Apache-2.0
"""
What the blocks of a launch know of each other.

Those of a cluster meet at its barriers, and then know all that the others did before. The last
block to arrive at a counter knows what the others did before they arrived. An epoch is the number
of barriers that had been passed by then, whoever passed them.
"""

import numpy as np

from tilewright.interpreters.types import Array
from tilewright.interpreters.warp_clocks import WarpClocks

_SEVERAL_OF_FIRST = -10
"""Stands for several blocks of cluster 0; what is less for those of later clusters."""


class Meetings:
    """Of all blocks of a launch, by their numbers."""

    def __init__(self, blocks: int, cluster: int, *, in_groups: bool = False):
        self.cluster = cluster
        self.in_groups = in_groups
        """Whether parts of a block meet by themselves."""
        self.clocks: WarpClocks | None = None
        """Of the blocks that run, where parts of them meet."""
        self._met = np.zeros(blocks, int)
        """The epoch that began with the last barrier of the block's cluster."""
        self._counter = np.full(blocks, -1)
        """The counter at which the block has arrived last."""
        self._arrived = np.zeros(blocks, int)
        """The epoch that began then."""
        self._turn = np.zeros(blocks, int)
        """How many arrivals at counters there had been before."""
        self._arrivals = 0
        self._is_last = np.zeros(blocks, bool)
        self.visiting = np.zeros(blocks, bool)
        """Which may be reading the shared memory of others, which then must not end."""

    def begin(self, blocks: range, threads: int) -> None:
        """These blocks run now."""
        self.clocks = WarpClocks(blocks, threads) if self.in_groups else None

    def cluster_of(self, block: Array) -> Array:
        """Return the cluster of a block, or of several; negative where that is none or unknown."""
        several = np.where(block <= _SEVERAL_OF_FIRST, _SEVERAL_OF_FIRST - block, -1)
        return np.where(block >= 0, block // self.cluster, several)

    def several_of(self, cluster: Array) -> Array:
        """What stands for several blocks of a cluster, where one block is expected."""
        return _SEVERAL_OF_FIRST - cluster

    def has_told(self, block: Array, epoch: Array, to: Array) -> Array:
        """Whether block `to` knows what another block did in an epoch; of no block it does not."""
        known = np.maximum(block, 0)
        in_cluster = (self.cluster_of(block) == to // self.cluster) & (epoch < self._met[to])
        at_counter = self._is_last[to] & (self._counter[known] == self._counter[to])
        at_counter &= self._turn[known] < self._turn[to]
        return in_cluster | ((block >= 0) & at_counter & (epoch < self._arrived[known]))

    def meet(self, blocks: Array, epoch: int) -> None:
        """`blocks`, which are whole clusters, pass a barrier: an epoch begins."""
        self._met[blocks], self.visiting[blocks] = epoch, False

    def arrive(self, block: int, counter: int, epoch: int, is_last: bool) -> None:
        """A block arrives at a counter; an epoch begins."""
        self._counter[block], self._arrived[block] = counter, epoch
        self._is_last[block], self._turn[block] = is_last, self._arrivals
        self._arrivals += 1
