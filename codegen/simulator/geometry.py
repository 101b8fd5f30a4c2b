# SPDX-License-Identifier: Apache-2.0
"""Mapping from lanes to threads and blocks, for the batch of blocks that is being simulated."""

from dataclasses import dataclass, field

import numpy as np

from tilewright.codegen.simulator.lanes import WARP, Booleans, Integers

Dim3 = tuple[int, int, int]

LANES_AT_ONCE = 16384
"""Approximate number of lanes in a batch of blocks: registers then stay in the cache."""

_SCATTER = np.uint32(2654435761)
"""Multiplier 2**32 / golden ratio: its multiples, modulo 2**32, lie far from each other."""


@dataclass
class Geometry:
    """
    Shape of the launch, and the place of each lane in it.

    A block takes `width` lanes: its threads, filled up to whole warps. Lanes without a thread
    (`exists` is false) never run. Blocks are numbered cluster by cluster, and a batch has whole
    clusters. With `sample`, only about that many blocks run. `chosen` holds the numbers of the
    blocks that run.
    """

    grid: Dim3
    block: Dim3
    at_once: int = LANES_AT_ONCE
    cluster: Dim3 = (1, 1, 1)
    first_block: int = 0
    """Position in `chosen` of the first block of the batch."""
    sample: int | None = None
    lane: Integers = field(init=False)
    block_of: Integers = field(init=False)
    warp_of: Integers = field(init=False)
    lane_in_warp: Integers = field(init=False)
    thread: Integers = field(init=False)
    exists: Booleans = field(init=False)

    def __post_init__(self) -> None:
        self.threads = int(np.prod(self.block))
        self.width = -(-self.threads // WARP) * WARP
        self.total_blocks = int(np.prod(self.grid))
        self.cluster_blocks = int(np.prod(self.cluster))
        self.chosen = self._choose()
        clusters = self.at_once // (self.width * self.cluster_blocks)
        self.blocks = max(1, min(len(self.chosen) // self.cluster_blocks, clusters))
        self.blocks *= self.cluster_blocks
        self.lanes = self.blocks * self.width
        self.lane = np.arange(self.lanes)
        self.block_of = self.lane // self.width
        self.warp_of = self.lane // WARP
        self.lane_in_warp = self.lane % WARP
        self.thread = self.lane % self.width
        self.exists = self.thread < self.threads

    def _choose(self) -> Integers:
        """
        Return the numbers of the blocks that run: whole clusters, spread evenly over the grid.
        """
        size = self.cluster_blocks
        clusters = -(-self.total_blocks // size)
        count = clusters if self.sample is None else min(clusters, -(-self.sample // size))
        first = np.unique(np.linspace(0, clusters - 1, max(1, count)).round().astype(np.int64))
        return (first[:, None] * size + np.arange(size)).ravel()

    @property
    def clusters(self) -> Dim3:
        """Number of clusters in each direction of the grid."""
        x, y, z = (size // by for size, by in zip(self.grid, self.cluster, strict=True))
        return x, y, z

    def live(self) -> Booleans:
        """Return a mask of the lanes of the current batch that are threads of the launch."""
        return self.exists & (self.block_of + self.first_block < len(self.chosen))

    def turns(self, lanes: Integers) -> Integers:
        """
        Return the order in which `lanes` execute an atomic, as positions in `lanes`.

        Lanes of a block come in the order of their numbers. Blocks come in a scattered order,
        because a GPU promises none.
        """
        block = lanes // self.width
        if block[0] == block[-1]:
            return np.arange(len(lanes))
        return np.argsort(block.astype(np.uint32) * _SCATTER, kind="stable")

    def rank(self) -> Integers:
        """Return, per lane, the rank of its block in its cluster."""
        return self.block_of % self.cluster_blocks

    def special_registers(self) -> dict[str, Integers]:
        """Return the values of the special registers in this batch, per lane."""
        place = np.minimum(self.block_of + self.first_block, len(self.chosen) - 1)
        cluster = self.chosen[place] // self.cluster_blocks
        values: dict[str, Integers] = {
            "%laneid": self.lane_in_warp,
            "%warpid": self.thread // WARP,
            "%nwarpid": np.full_like(self.lane, self.width // WARP),
            "%cluster_ctarank": self.rank(),
            "%cluster_nctarank": np.full_like(self.lane, self.cluster_blocks),
        }
        values |= _axes("%tid", "%ntid", self.thread, self.block)
        values |= _axes("%cluster_ctaid", "%cluster_nctaid", self.rank(), self.cluster)
        values |= _axes("%clusterid", "%nclusterid", cluster, self.clusters)
        for axis, name in enumerate("xyz"):
            first = values[f"%clusterid.{name}"] * self.cluster[axis]
            values[f"%ctaid.{name}"] = first + values[f"%cluster_ctaid.{name}"]
            values[f"%nctaid.{name}"] = np.full_like(self.lane, self.grid[axis])
        return values

    def block_name(self, place: int) -> int:
        """
        Return CUDA's number of the block at position `place` in `chosen`, counted over the whole
        grid with x fastest.
        """
        block = int(self.chosen[place])
        number, x = 0, block % self.cluster_blocks
        cluster, scale = block // self.cluster_blocks, 1
        for size, count, extent in zip(self.cluster, self.clusters, self.grid, strict=True):
            number += (cluster % count * size + x % size) * scale
            cluster, x, scale = cluster // count, x // size, scale * extent
        return number

    def name(self, lane: int) -> str:
        """
        Return the name of a lane of the batch in findings: `thread 3 of block 7`, where blocks
        count within the launch.
        """
        return self.launch_name(lane + self.first_block * self.width)

    def launch_name(self, lane: int) -> str:
        """
        Return the name in findings of a lane whose number counts through all batches of the launch.
        """
        return f"thread {lane % self.width} of block {self.block_name(lane // self.width)}"


def _axes(index: str, count: str, number: Integers, shape: Dim3) -> dict[str, Integers]:
    """
    Return the special registers called `index` and `count`, for x, y and z.

    They hold `number` as subscripts of a shape, x fastest, and the extents of the shape.
    """
    values: dict[str, Integers] = {}
    for axis, name in zip(shape, "xyz", strict=True):
        values[f"{index}.{name}"] = number % axis
        values[f"{count}.{name}"] = np.full_like(number, axis)
        number = number // axis
    return values
