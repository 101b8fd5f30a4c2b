# SPDX-License-Identifier: Apache-2.0
"""
Happens-before relation between the blocks of a launch.

Blocks of a cluster meet at its barriers; all earlier accesses of one then happen before all later
ones of the others. The last block to arrive at a counter comes after everything that the others did
before they arrived. An epoch is the number of barriers passed so far, by any threads.
"""

import numpy as np

from tilewright.interpreters.types import Array
from tilewright.interpreters.warp_clocks import WarpClocks

_SEVERAL_OF_FIRST = -10
"""
Code for several blocks of cluster 0 in place of a block number; later clusters have lower codes.
"""


class Meetings:
    """Synchronisation state of all blocks of a launch, by block number."""

    def __init__(self, blocks: int, cluster: int, *, in_groups: bool = False):
        self.cluster = cluster
        self.in_groups = in_groups
        """True if some threads of a block may meet at a barrier without the rest."""
        self.clocks: WarpClocks | None = None
        """Clocks of the running blocks' warps; None unless `in_groups`."""
        self._met = np.zeros(blocks, int)
        """
        Epoch (number of barriers passed) that began when each block arrived at the last barrier
        that its cluster has passed.
        """
        self._all_met = np.zeros(blocks, int)
        """Least number in `_met` of the blocks in each block's cluster."""
        self.left = np.full(blocks, -1)
        """
        Epoch that began with the arrival at the barrier of its cluster for which each block has not
        waited yet; -1 if there is none.
        """
        self._counter = np.full(blocks, -1)
        """Last counter at which each block has arrived."""
        self._arrived = np.zeros(blocks, int)
        """
        Epoch (number of barriers passed) that began with the block's last arrival at a counter.
        """
        self._turn = np.zeros(blocks, int)
        """Number of arrivals at counters before the block's last arrival."""
        self._arrivals = 0
        self._is_last = np.zeros(blocks, bool)
        self._visit = np.full(blocks, -1)
        """
        Epoch in which each block last began to read the shared memory of others, which must not end
        before it has arrived at a later barrier of the cluster; -1 if they may end.
        """

    def begin(self, blocks: range, threads: int) -> None:
        """Begin to run these blocks; if `in_groups`, their warps get new clocks."""
        self.clocks = WarpClocks(blocks, threads) if self.in_groups else None

    def cluster_of(self, block: Array) -> Array:
        """
        Return the cluster of a block, or of a code for several blocks of one cluster. Negative if
        the code is for no block, or for blocks of several clusters.
        """
        several = np.where(block <= _SEVERAL_OF_FIRST, _SEVERAL_OF_FIRST - block, -1)
        return np.where(block >= 0, block // self.cluster, several)

    def several_of(self, cluster: Array) -> Array:
        """Return the code for several blocks of a cluster, used in place of a block number."""
        return _SEVERAL_OF_FIRST - cluster

    def happens_before(self, block: Array, epoch: Array, to: Array) -> Array:
        """
        Return a mask: True where everything that `block` did in `epoch` happens before what `to`
        does now.

        False if `block` is no block number, except for a code of several blocks in the cluster of
        `to`.
        """
        known = np.maximum(block, 0)
        met = np.where(block >= 0, self._met[known], self._all_met[to])
        in_cluster = (self.cluster_of(block) == to // self.cluster) & (epoch < met)
        at_counter = self._is_last[to] & (self._counter[known] == self._counter[to])
        at_counter &= self._turn[known] < self._turn[to]
        return in_cluster | ((block >= 0) & at_counter & (epoch < self._arrived[known]))

    def visit(self, blocks: Array, epoch: int) -> None:
        """Record that `blocks` begin to read the shared memory of others in `epoch`."""
        self._visit[blocks] = epoch

    def visiting(self, blocks: Array) -> Array:
        """Return a mask of the blocks that may be reading the shared memory of others."""
        return self._visit[blocks] >= 0

    def leave(self, blocks: Array, epoch: int) -> None:
        """Record that `blocks` have arrived at a barrier of their cluster, and begin `epoch`."""
        self.left[blocks] = epoch

    def meet(self, blocks: Array) -> None:
        """Record that `blocks`, which are whole clusters, have passed the barrier they left for."""
        self._met[blocks] = left = self.left[blocks]
        self._all_met[blocks] = left.reshape(-1, self.cluster).min(axis=1).repeat(self.cluster)
        self._visit[blocks] = np.where(self._visit[blocks] < left, -1, self._visit[blocks])
        self.left[blocks] = -1

    def arrive(self, block: int, counter: int, epoch: int, is_last: bool) -> None:
        """Record the arrival of a block at a counter, after which `epoch` begins."""
        self._counter[block], self._arrived[block] = counter, epoch
        self._is_last[block], self._turn[block] = is_last, self._arrivals
        self._arrivals += 1
