# SPDX-License-Identifier: Apache-2.0
"""
Further orders in which a kernel runs, if its outcome may depend on the order of threads.

A kernel that polls flags may find them set too early or too late, and acts on that without another
barrier. If the first run of a polling kernel has no findings, it is repeated in four orders:

- each team runs for as long as it can, the first teams first
- each team runs for as long as it can, the last teams first
- each team stops before a write that others may poll, and polling teams get one turn
- each team stops after a write that others may poll, and polling teams get one turn

A team is a warp, or a block if there are too many warps.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from tilewright.codegen.simulator.arguments import Argument
from tilewright.codegen.simulator.geometry import Geometry
from tilewright.codegen.simulator.groups import Turns
from tilewright.codegen.simulator.kernel import Kernel
from tilewright.codegen.simulator.lanes import WARP
from tilewright.codegen.simulator.operands import Instruction
from tilewright.codegen.simulator.tensor_map import TensorMap

MOST_AGAIN = 4
"""
Maximum work of a run in another order, as a multiple of the first run's work. A run in another
order polls more often.
"""

_MOST_STEPS = 20_000
"""
Maximum number of instructions, summed over all teams (warps or blocks), of a kernel that is run in
other orders: about half a second.
"""

_POLLING = {"volatile", "relaxed", "acquire"}
_ORDERS = {"acquire", "release", "acq_rel"}
_WRITES = {"volatile", "relaxed", "release"}
_OTHER_FENCES = {"proxy", "mbarrier_init"}


def depends_on_turns(kernel: Kernel) -> bool:
    """
    True if threads poll for the progress of others, and synchronise by fences, releases or
    acquires.
    """
    return any(map(_polls, kernel.instructions)) and any(map(_orders_memory, kernel.instructions))


def _polls(instruction: Instruction) -> bool:
    root, parts = instruction.root, set(instruction.parts)
    return root == "atom" or (root == "ld" and bool(_POLLING & parts))


def _orders_memory(instruction: Instruction) -> bool:
    root, parts = instruction.root, set(instruction.parts)
    fences = root == "membar" or (root == "fence" and not _OTHER_FENCES & parts)
    return fences or bool(_ORDERS & parts)


def orders(geometry: Geometry, executed: int) -> Iterator[Turns]:
    """
    Yield the orders in which to run a launch again, if they are cheap enough; the first run took
    `executed` thread-instructions.
    """
    for width in (WARP, geometry.width):
        if executed // width <= _MOST_STEPS:
            yield from (Turns(width), Turns(width, last_first=True))
            yield from (Turns(width, yields=True), Turns(width, pauses=True))
            return


def strong_writes(kernel: Kernel) -> set[int]:
    """Return the places of instructions whose writes other threads may poll."""
    return {
        place
        for place, each in enumerate(kernel.instructions)
        if each.root in ("atom", "red") or (each.root == "st" and _WRITES & set(each.parts))
    }


class Snapshot:
    """Copy of the writable arrays among the arguments of a launch."""

    def __init__(self, arguments: Sequence[Argument]):
        arrays = [each.array if isinstance(each, TensorMap) else each for each in arguments]
        self._kept = [
            (array, array.copy())
            for array in arrays
            if isinstance(array, np.ndarray) and array.flags.writeable
        ]

    def restore(self) -> None:
        """Write the copies back into the arrays."""
        for array, before in self._kept:
            array[...] = before
