# SPDX-License-Identifier: Apache-2.0
"""Which thread of which block each lane is, for the batch of blocks that is being simulated."""

from dataclasses import dataclass, field

import numpy as np

from tilewright.codegen.simulator.lanes import WARP, Booleans, Integers

Dim3 = tuple[int, int, int]

LANES_AT_ONCE = 16384
"""Blocks are simulated in batches of about this many lanes: registers then stay in the cache."""


@dataclass
class Geometry:
    """
    The launch's shape and the place of each lane.

    A block takes `width` lanes: its threads, filled up to whole warps. Lanes that are no thread
    (`exists` is false) never run.
    """

    grid: Dim3
    block: Dim3
    at_once: int = LANES_AT_ONCE
    first_block: int = 0
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
        self.blocks = max(1, min(self.total_blocks, self.at_once // self.width))
        self.lanes = self.blocks * self.width
        self.lane = np.arange(self.lanes)
        self.block_of = self.lane // self.width
        self.warp_of = self.lane // WARP
        self.lane_in_warp = self.lane % WARP
        self.thread = self.lane % self.width
        self.exists = self.thread < self.threads

    def live(self) -> Booleans:
        """The lanes that are threads of the launch, in the batch that starts at `first_block`."""
        return self.exists & (self.block_of + self.first_block < self.total_blocks)

    def next_epoch(self, epochs: Integers, lanes: slice | Integers) -> Integers:
        """What the lanes' epochs become at a barrier: one that no lane of their block had yet."""
        newest = epochs.reshape(self.blocks, self.width).max(axis=1) + 1
        return newest[self.block_of[lanes]]

    def special_registers(self) -> dict[str, Integers]:
        """The special registers' values in this batch, per lane."""
        values: dict[str, Integers] = {
            "%laneid": self.lane_in_warp,
            "%warpid": self.thread // WARP,
            "%nwarpid": np.full_like(self.lane, self.width // WARP),
        }
        thread, block = self.thread, self.block_of + self.first_block
        for axis, name in enumerate("xyz"):
            values[f"%ntid.{name}"] = np.full_like(self.lane, self.block[axis])
            values[f"%nctaid.{name}"] = np.full_like(self.lane, self.grid[axis])
            values[f"%tid.{name}"] = thread % self.block[axis]
            values[f"%ctaid.{name}"] = block % self.grid[axis]
            thread = thread // self.block[axis]
            block = block // self.grid[axis]
        return values

    def name(self, lane: int) -> str:
        """`thread 3 of block 7`, numbers within the launch."""
        block = int(self.block_of[lane]) + self.first_block
        return f"thread {int(self.thread[lane])} of block {block}"
