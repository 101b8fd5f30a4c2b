# SPDX-License-Identifier: Apache-2.0
"""
Asynchronous copies, simulated in the order that is worst for threads that do not wait.

The target elements of a copy are lost when it begins, and stay lost until an op waits for the copy.
This one order finds both possible mistakes. A read before the wait finds an element that a copy is
under way to. A copy that begins while threads still read its target destroys the contents for later
reads. It also races with reads that lockstep has already done, because it counts as a write. The
writer is the thread that begins the copy, or an engine that no barrier orders.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from xdsl.ir import Operation

from tilewright.interpreters.buffer import Buffer
from tilewright.interpreters.errors import fail
from tilewright.interpreters.neighbours import overwrite_neighbours
from tilewright.interpreters.race import Accessors
from tilewright.interpreters.types import Array, is_same


@dataclass(frozen=True)
class Flight:
    """
    An asynchronous copy under way, begun by one op. Its arrays are flat, with an entry for each
    copied element.

    `elements` are offsets in the target, `origins` offsets in the source: -1 where the value is
    zero and has no source. `rows` are the blocks of the elements, counted from the first running
    block. `fill` is the number of the ring's fill, once known.
    """

    op: Operation
    source: Buffer
    buffer: Buffer
    elements: Array
    values: Array
    origins: Array
    rows: Array
    fill: Array

    def part(self, chosen: Array) -> "Flight":
        """Return the copy of the elements for which the mask `chosen` is true."""
        if chosen.all():
            return self
        arrays = self.elements, self.values, self.origins, self.rows, self.fill
        return Flight(self.op, self.source, self.buffer, *(a[chosen] for a in arrays))

    def of_fill(self, counts: Array) -> "Flight":
        """Return the copy with `fill` set; `counts` has the number of the fill for each block."""
        return replace(self, fill=counts[self.rows])

    def land(self) -> None:
        """
        Complete the copy: store its elements. Raises `InterpreterError` if the source has changed
        since.
        """
        if self.source.accesses is not None:
            self._check_source()
        self.buffer.data[self.elements] = self.values
        self.buffer.set_written(self.elements)

    def _check_source(self) -> None:
        is_read = self.origins >= 0
        origins, before = self.origins[is_read], self.values[is_read]
        changed = ~is_same(self.source.data[origins], before)
        if changed.any():
            where = self.source.element(origins[changed][0])
            raise fail(
                self.op,
                f"element {where} of the source changed while it was copied",
                remedy="wait for the copy before what it reads is written",
            )

    def lose(self) -> None:
        """Mark the copied elements as unwritten, because their slot is released."""
        self.buffer.set_unwritten(self.elements)

    def forget_accesses(self) -> None:
        """Order all accesses to the target elements so far before all later ones."""
        if self.buffer.accesses is not None:
            self.buffer.accesses.forget(self.elements)


def divided(
    flights: list[Flight], choose: Callable[[Flight], Array]
) -> tuple[list[Flight], list[Flight]]:
    """
    Return two lists: the parts of `flights` for which the mask `choose(flight)` is true, and the
    other parts.
    """
    taken: list[Flight] = []
    left: list[Flight] = []
    for flight in flights:
        chosen = choose(flight)
        if chosen.any():
            taken.append(flight.part(chosen))
        if not chosen.all():
            left.append(flight.part(~chosen))
    return taken, left


def begin(flight: Flight, accessors: Accessors) -> None:
    """
    Begin a copy on behalf of the threads or engine `accessors`: from now on no thread may access
    its target elements.

    Raises `InterpreterError` if two copies write one element, or if a thread still uses a target
    element.
    """
    op, buffer, elements = flight.op, flight.buffer, flight.elements
    if (busy := buffer.is_under_way(elements)).any():
        where = buffer.element(elements[busy][0])
        raise fail(
            op,
            f"copies to element {where}, to which another copy is under way",
            remedy="wait for its fill with kernel.ring_wait, or copy to another slot",
        )
    overwrite_neighbours(op, buffer, elements, accessors)
    _check_distinct(flight)
    _check_unused(flight, accessors)
    buffer.set_under_way(elements)


def _check_distinct(flight: Flight) -> None:
    data, elements = flight.buffer.data, flight.elements
    data[elements] = flight.values
    kept = data[elements]
    lost = ~is_same(kept, flight.values)
    if lost.any():
        where = flight.buffer.element(elements[lost][0])
        raise fail(
            flight.op,
            f"copies both {kept[lost][0]} and {flight.values[lost][0]} to element {where}",
            remedy="every thread must copy to elements of its own",
        )


def _check_unused(flight: Flight, accessors: Accessors) -> None:
    if (accesses := flight.buffer.accesses) is None:
        return
    races = accesses.write(flight.elements, accessors, np.ones(len(flight.elements), bool))
    if races.any():
        where = flight.buffer.element(flight.elements[races][0])
        raise fail(
            flight.op,
            f"begins to overwrite element {where} while another thread uses it",
            remedy="begin after the wait that comes after its last use, or take another slot",
        )
