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
        Epoch (number of barriers passed) that began with the last barrier of each block's cluster.
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
        self.visiting = np.zeros(blocks, bool)
        """
        Mask of the blocks that may be reading the shared memory of others, which then must not end.
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
        in_cluster = (self.cluster_of(block) == to // self.cluster) & (epoch < self._met[to])
        at_counter = self._is_last[to] & (self._counter[known] == self._counter[to])
        at_counter &= self._turn[known] < self._turn[to]
        return in_cluster | ((block >= 0) & at_counter & (epoch < self._arrived[known]))

    def meet(self, blocks: Array, epoch: int) -> None:
        """
        Record that `blocks`, which are whole clusters, have passed a barrier, after which `epoch`
        begins.
        """
        self._met[blocks], self.visiting[blocks] = epoch, False

    def arrive(self, block: int, counter: int, epoch: int, is_last: bool) -> None:
        """Record the arrival of a block at a counter, after which `epoch` begins."""
        self._counter[block], self._arrived[block] = counter, epoch
        self._is_last[block], self._turn[block] = is_last, self._arrivals
        self._arrivals += 1
