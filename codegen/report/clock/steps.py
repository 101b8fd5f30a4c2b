# SPDX-License-Identifier: Apache-2.0
"""Instructions as the simulated SM reads them: their costs, without look-ups by name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tilewright.codegen.report.clock.machine import Machine, Pipe
from tilewright.codegen.report.clock.places import Action, Place
from tilewright.codegen.report.clock.waits import Wait

PIPES = tuple(Pipe)
CONTROL, MEMORY, TENSOR = map(PIPES.index, (Pipe.CONTROL, Pipe.MEMORY, Pipe.TENSOR))
"""Numbers of pipes, which are indices of `PIPES`."""

_CAUSES = {
    Action.LOAD: Wait.MEMORY,
    Action.STORE: Wait.MEMORY,
    Action.COPY: Wait.MEMORY,
    Action.REMOTE: Wait.MEMORY,
    Action.SHARED: Wait.SHARED,
    Action.SHUFFLE: Wait.SHARED,
    Action.SPECIAL: Wait.PIPE,
    Action.TENSOR: Wait.PIPE,
}


@dataclass(slots=True, eq=False)
class Step:
    """An instruction, with the fields of its place and of its control code that are read often."""

    number: int
    """Number of its place."""
    place: Place
    pipe: int
    clocks: float
    stall: int
    waits: tuple[int, ...]
    """Scoreboards that it waits for."""
    is_plain: bool
    """True if it changes nothing but its pipe."""
    latency: float | None
    """Clocks until its result is ready; None if they depend on the state of the SM."""
    cause: Wait
    """Reason of waits for its result."""
    busy: Wait
    """Reason of its own wait for its pipe."""
    inner: Sequence[int] | None
    """Starts of the loops inside the loop that starts here; None if none starts here."""


def steps_of(
    places: Sequence[Place], inner_loops: Mapping[int, Sequence[int]], machine: Machine
) -> list[Step]:
    """Return the instructions of a kernel. `inner_loops` are inside each loop, by its start."""
    latencies = {
        Action.CONSTANT: machine.constant_latency,
        Action.SPECIAL: machine.special_latency,
        Action.TENSOR: machine.tensor_latency,
        Action.REMOTE: machine.remote_latency,
    }
    return [
        Step(
            number,
            place,
            PIPES.index(place.pipe),
            place.clocks,
            place.control.stall,
            place.control.waits,
            place.action is Action.NONE and place.pipe is not Pipe.MEMORY,
            latencies.get(place.action),
            _CAUSES.get(place.action, Wait.ISSUE),
            Wait.SHARED if place.pipe is Pipe.MEMORY else Wait.PIPE,
            inner_loops.get(number),
        )
        for number, place in enumerate(places)
    ]
