# SPDX-License-Identifier: Apache-2.0
"""
Copies that go on behind the threads' backs, at the worst time for whoever does not wait.

What such a copy is to write is lost the moment it begins, and stays so until something waits for
it. This one order of many finds both mistakes there are. Who reads too early, before the wait,
finds an element that is on its way. Who begins too early, while others still read what lies there,
takes it away from reads that come later, and races with those that lockstep has already done: the
copy is a write of the thread that begins it, or of an engine that no barrier knows.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from xdsl.ir import Operation

from tilewright.interpreters.buffer import Buffer
from tilewright.interpreters.errors import fail
from tilewright.interpreters.neighbours import take_over
from tilewright.interpreters.race import Who
from tilewright.interpreters.types import Array, is_same


@dataclass(frozen=True)
class Flight:
    """
    The elements that one op copies, as flat arrays: where to, what, where from (-1: nowhere, it is
    zero), and for which of the blocks that run, counted from the first of them. `fill` is the
    number of the ring's fill, once known.
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
        """Those elements that are `chosen`."""
        if chosen.all():
            return self
        arrays = self.elements, self.values, self.origins, self.rows, self.fill
        return Flight(self.op, self.source, self.buffer, *(a[chosen] for a in arrays))

    def of_fill(self, counts: Array) -> "Flight":
        """Return the same, as part of the fill that `counts` has for each block."""
        return replace(self, fill=counts[self.rows])

    def land(self) -> None:
        """The elements arrive; an error if others would have, had they been read only now."""
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
        """What has arrived is not there any more."""
        self.buffer.set_unwritten(self.elements)

    def forget_accesses(self) -> None:
        """Everybody's accesses so far come before everything that is done from now on."""
        if self.buffer.accesses is not None:
            self.buffer.accesses.forget(self.elements)


def divided(
    flights: list[Flight], choose: Callable[[Flight], Array]
) -> tuple[list[Flight], list[Flight]]:
    """What is chosen of `flights`, and the rest."""
    taken: list[Flight] = []
    left: list[Flight] = []
    for flight in flights:
        chosen = choose(flight)
        if chosen.any():
            taken.append(flight.part(chosen))
        if not chosen.all():
            left.append(flight.part(~chosen))
    return taken, left


def begin(flight: Flight, who: Who) -> None:
    """
    The copy begins on behalf of `who`: from now on nobody may touch what it writes.

    Raises `InterpreterError` where two copies write one element, or somebody uses it.
    """
    op, buffer, elements = flight.op, flight.buffer, flight.elements
    if (busy := buffer.on_its_way(elements)).any():
        where = buffer.element(elements[busy][0])
        raise fail(
            op,
            f"copies to element {where}, to which another copy is under way",
            remedy="wait for its fill with kernel.ring_wait, or copy to another slot",
        )
    take_over(op, buffer, elements, who)
    _check_distinct(flight)
    _check_unused(flight, who)
    buffer.set_on_its_way(elements)


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


def _check_unused(flight: Flight, who: Who) -> None:
    if (accesses := flight.buffer.accesses) is None:
        return
    races = accesses.write(flight.elements, who, np.ones(len(flight.elements), bool))
    if races.any():
        where = flight.buffer.element(flight.elements[races][0])
        raise fail(
            flight.op,
            f"begins to overwrite element {where} while another thread uses it",
            remedy="begin after the wait that comes after its last use, or take another slot",
        )
