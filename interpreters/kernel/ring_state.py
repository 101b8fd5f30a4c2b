# SPDX-License-Identifier: Apache-2.0
"""
What each block has done with a ring so far, and what it may do next.

All transports have the same rules, so that a program stays right when its transport changes: fills
are committed and released in the order of their numbers, a fill is waited for after it is committed
and released after that, and a slot is acquired when the fill that had it is released. A commit that
brought nothing has the place of no fill: the next may have its number.

What only one transport needs: copies of `cp.async` belong to the next commit of their thread, on
whatever ring, and a wait for all but the newest `pending` groups must include its fill. A box
belongs to its fill by number; the fill must be acquired, once, for the bytes that it brings.
"""

from dataclasses import dataclass

import numpy as np
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.kernel.ring import RingType
from tilewright.dialects.tile import Transport
from tilewright.interpreters.errors import fail
from tilewright.interpreters.kernel.async_copies import Flight
from tilewright.interpreters.kernel.threads import Threads
from tilewright.interpreters.types import Array


class Ring:
    """By block, how many fills have got how far; by slot, what is known of its newest fill."""

    def __init__(self, type: RingType, bytes: int, blocks: int):
        self.depth, self.transport, self.bytes = type.depth.data, type.transport.data, bytes
        self.acquired = np.zeros(blocks, int)
        self.committed = np.zeros(blocks, int)
        self.empty = np.zeros(blocks, int)
        """The newest of those committed that brought nothing and nobody waited for."""
        self.awaited = np.zeros(blocks, int)
        self.released = np.zeros(blocks, int)
        self.group = np.zeros((blocks, self.depth), int)
        """The group of copies that a fill was committed as."""
        self.brought = np.zeros((blocks, self.depth), int)
        """The bytes of the boxes that were copied since the last commit."""
        self.under_way: list[Flight] = []
        self.present: list[Flight] = []
        self.left: list[Flight] = []
        """What was released, until its slot is acquired."""

    @property
    def by_engine(self) -> bool:
        """True if no thread is the one that copies."""
        return self.transport is Transport.TMA


@dataclass(frozen=True)
class Fill:
    """An op that concerns one fill: its number in each block, and which blocks come to the op."""

    machine: Threads
    op: Operation
    ring: Ring
    count: Array
    blocks: Array

    def check(self, good: Array, message: str, *numbers: Array, remedy: str = "") -> None:
        """An error unless `good` for all blocks; `message` has a place for the fill, and others."""
        bad = self.blocks & ~good
        if not bad.any():
            return
        first = int(np.argmax(bad))
        shown = [int(n[first]) for n in (self.count, *numbers)]
        block = self.machine.block_id[first, 0]
        raise fail(self.op, f"block {block} {message.format(*shown)}", remedy=remedy)

    @property
    def slot(self) -> tuple[Array, Array]:
        """What the fill has in a table by block and slot."""
        return np.arange(len(self.count)), self.count % self.ring.depth

    def check_copy(self, slot: Array, bytes: int) -> None:
        """A box of `bytes` is about to be copied to `slot`, as a part of the fill."""
        ring, count = self.ring, self.count
        self.check(
            slot == count % ring.depth,
            "copies fill {0} to slot {1}, but its slot is {2}",
            slot,
            count % ring.depth,
            remedy=f"the slot is the count mod {ring.depth}",
        )
        self.check(
            count < ring.acquired,
            "copies fill {0}, whose slot is not acquired",
            remedy="put kernel.ring_acquire before the copy",
        )
        self.check(
            count >= ring.committed - ring.empty, "copies fill {0}, which is committed already"
        )
        ring.brought[self.slot] += np.where(self.blocks, bytes, 0)

    def is_in(self, flight: Flight) -> Array:
        """Which elements of `flight` belong to this fill."""
        return self.blocks[flight.rows] & (flight.fill == self.count[flight.rows])

    def is_up_to(self, flight: Flight, *, back: int = 0) -> Array:
        """Which elements of `flight` belong to the fill `back` before this, or one before that."""
        return self.blocks[flight.rows] & (flight.fill <= self.count[flight.rows] - back)


def coming(machine: Threads, op: Operation, ring: SSAValue, count: SSAValue) -> Fill:
    """
    Return the fill that `op` concerns; an error unless all threads of a block come to it alike.
    """
    if machine.rank != 2:
        raise fail(op, "stands in a nest whose steps have no order", remedy="use an scf.for")
    blocks = machine.arriving(op, f"'{op.name}'")
    number = machine.by_block(op, count, blocks, "the count")
    return Fill(machine, op, machine.values[ring], number, blocks)
