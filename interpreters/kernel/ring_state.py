# SPDX-License-Identifier: Apache-2.0
"""
Progress of each block with a ring, and checks of the next step.

All transports have the same rules, so that a program stays right if its transport changes. Fills
are committed and released in the order of their numbers. A fill is awaited after its commit, and
released after that. A slot is acquired after its previous fill is released. A commit without copies
does not use up its fill number: the next commit may have the same number.

Some rules are of one transport. Copies of `cp.async` belong to the next commit of their thread, on
any ring. A wait for all but the newest `pending` groups must include its fill's group. A TMA box
belongs to its fill by number. The fill must be acquired once, for the number of bytes that its
boxes bring.
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
    """
    State of a ring. It counts each block's acquired, committed, awaited and released fills, and has
    the newest fill of each slot.
    """

    def __init__(self, type: RingType, bytes: int, blocks: int):
        self.depth, self.transport, self.bytes = type.depth.data, type.transport.data, bytes
        self.acquired = np.zeros(blocks, int)
        self.committed = np.zeros(blocks, int)
        self.empty = np.zeros(blocks, int)
        """
        Number of the newest committed fills that have no copies and that no thread has waited for,
        for each block.
        """
        self.awaited = np.zeros(blocks, int)
        self.released = np.zeros(blocks, int)
        self.group = np.zeros((blocks, self.depth), int)
        """
        Number of the `cp.async` group as which the fill in each slot was committed, by (block,
        slot).
        """
        self.brought = np.zeros((blocks, self.depth), int)
        """Bytes of the boxes copied to each slot since the last commit, by (block, slot)."""
        self.under_way: list[Flight] = []
        self.present: list[Flight] = []
        self.left: list[Flight] = []
        """Copies whose slots are released, and not acquired again yet."""

    @property
    def by_engine(self) -> bool:
        """True if an engine copies instead of threads."""
        return self.transport is Transport.TMA


@dataclass(frozen=True)
class Fill:
    """
    An op that refers to one fill: the fill's number in each block, and the blocks that reach the
    op.
    """

    machine: Threads
    op: Operation
    ring: Ring
    count: Array
    blocks: Array

    def check(self, good: Array, message: str, *numbers: Array, remedy: str = "") -> None:
        """
        Raise `InterpreterError` unless `good` is true in all blocks that reach the op.

        `message` is formatted with the fill's number and `numbers` in the first bad block.
        """
        bad = self.blocks & ~good
        if not bad.any():
            return
        first = int(np.argmax(bad))
        shown = [int(n[first]) for n in (self.count, *numbers)]
        block = self.machine.block_id[first, 0]
        raise fail(self.op, f"block {block} {message.format(*shown)}", remedy=remedy)

    @property
    def slot(self) -> tuple[Array, Array]:
        """Subscripts of the fill in a table by block and slot."""
        return np.arange(len(self.count)), self.count % self.ring.depth

    def check_copy(self, slot: Array, bytes: int) -> None:
        """
        Raise `InterpreterError` unless a box of `bytes` bytes may be copied to `slot` for this
        fill; else count its bytes.
        """
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
        """Return a mask of the elements of `flight` that belong to this fill."""
        return self.blocks[flight.rows] & (flight.fill == self.count[flight.rows])

    def is_up_to(self, flight: Flight, *, back: int = 0) -> Array:
        """
        Return a mask of the elements of `flight` that belong to the fill `back` fills before this
        one, or to an earlier one.
        """
        return self.blocks[flight.rows] & (flight.fill <= self.count[flight.rows] - back)


def coming(machine: Threads, op: Operation, ring: SSAValue, count: SSAValue) -> Fill:
    """
    Return the fill that `op` refers to.

    Raises `InterpreterError` if threads of a block disagree: only some reach the op, or their
    counts differ.
    """
    if machine.rank != 2:
        raise fail(op, "stands in a nest whose steps have no order", remedy="use an scf.for")
    blocks = machine.arriving(op, f"'{op.name}'")
    number = machine.by_block(op, count, blocks, "the count")
    return Fill(machine, op, machine.values[ring], number, blocks)
