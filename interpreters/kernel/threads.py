# SPDX-License-Identifier: Apache-2.0
"""Threads of Kernel IR: a vector machine with a dimension for blocks and one for threads."""

import numpy as np
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.target import WARP_SIZE
from tilewright.interpreters.errors import fail
from tilewright.interpreters.kernel.async_copies import Flight
from tilewright.interpreters.kernel.warpgroup_state import Warpgroups
from tilewright.interpreters.machine import Handlers, Machine
from tilewright.interpreters.meetings import Meetings
from tilewright.interpreters.race import ENGINE, Accessors
from tilewright.interpreters.types import Array, ElementTypes


class Threads(Machine):
    """Some blocks of a launch, with the axes (block, thread), outermost first."""

    def __init__(
        self,
        handlers: Handlers,
        blocks: range,
        threads: int,
        types: ElementTypes,
        meetings: Meetings,
    ):
        super().__init__(handlers, types)
        self.meetings = meetings
        self.shape = (len(blocks), threads)
        self.block_id = np.arange(blocks.start, blocks.stop)[:, None]
        self.thread_id = np.arange(threads)
        self.time = 0
        """
        Number of barriers that have been passed so far; a barrier of some threads only counts, too.
        """
        self.since = np.zeros((len(blocks), 1), int)
        """Value of `time` at the last barrier of all threads of each block."""
        meetings.begin(blocks, threads)
        self.uncommitted: list[Flight] = []
        """Copies of `cp.async` that belong to no fill yet."""
        self.groups = np.zeros(len(blocks), int)
        """Number of copy groups that the threads of each block have committed, over all rings."""
        self.warpgroups = Warpgroups(len(blocks), threads)

    def accessors(self) -> Accessors:
        return Accessors(self.thread_id, self.block_id, np.asarray(self.time), self.since)

    def engine(self, rows: Array) -> Accessors:
        """
        Return the identity under which the hardware engine accesses memory for the blocks in these
        rows.
        """
        accessors = self.accessors()
        return Accessors(
            np.asarray(ENGINE), accessors.block[rows], accessors.epoch, accessors.since[rows]
        )

    def active_threads(self) -> Array | None:
        """
        Return a mask of the active threads, by (..., block, thread), axes of nests first; None if
        all.
        """
        if self.active is None:
            return None
        return np.broadcast_to(self.active, self.shape)

    def arriving(self, op: Operation, what: str) -> Array:
        """
        Return a mask of the blocks that reach `op`. Raises `InterpreterError` if only some threads
        of a block do.

        The message calls the op `what`.
        """
        active = self.active_threads()
        if active is None:
            return np.ones(len(self.block_id), bool)
        some: Array = np.any(active, axis=1)
        divergent = some & ~np.all(active, axis=1)
        if divergent.any():
            block = self.block_id[divergent][0, 0]
            raise fail(op, f"only some threads of block {block} reach this {what}")
        return some

    def arriving_warps(self, op: Operation, what: str) -> Array:
        """
        Return a mask of the warps that reach `op`. Raises `InterpreterError` if only some lanes of
        a warp do.

        The message calls the op `what`.
        """
        active, starts = self.active_threads(), self.thread_id[::WARP_SIZE]
        if active is None:
            return np.ones((len(self.block_id), len(starts)), bool)
        some = np.logical_or.reduceat(active, starts, axis=-1)
        every = np.logical_and.reduceat(active, starts, axis=-1)
        partial = np.argwhere(some & ~every)
        if partial.size:
            *_, block, warp = partial[0]
            raise fail(
                op,
                f"only some lanes of warp {warp} of block {self.block_id[block, 0]} are active",
                remedy=f"move the {what} out of the thread-dependent branch",
            )
        return some

    def pass_barrier(self, blocks: Array) -> None:
        """Record a barrier of all threads in each of `blocks`."""
        self.time += 1
        self.since = np.where(blocks[:, None], self.time, self.since)

    def by_block(self, op: Operation, value: SSAValue | Array, blocks: Array, what: str) -> Array:
        """
        Return one value for each block. Raises `InterpreterError` if the value differs between the
        threads of a block in `blocks`.

        The message calls the value `what`.
        """
        array = self.array(value) if isinstance(value, SSAValue) else value
        whole = np.broadcast_to(array, self.shape)
        differ = blocks & (whole != whole[:, :1]).any(axis=1)
        if differ.any():
            block = self.block_id[differ][0, 0]
            raise fail(op, f"{what} differs between the threads of block {block}")
        return whole[:, 0]
