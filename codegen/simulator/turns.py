# SPDX-License-Identifier: Apache-2.0
"""
Other orders in which a kernel is run, if what it does may depend on that.

A kernel that asks for flags may find them set too early or too late, and what it has found out it
does without another barrier. So one that nothing is found in is run again: each warp for as long as
it can, the first ones first, and then the last ones first; then each warp until it would write
what others ask for, who ask once more after each such write; and then each warp until it has done
so, that others do the same before it goes on. Blocks take turns where warps are too many.
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
"""How much more than the first run another one may do, which asks more often."""

_MOST_STEPS = 20_000
"""Instructions of a team, summed over teams, that another order may cost: half a second."""

_ASKS = {"volatile", "relaxed", "acquire"}
_ORDERS = {"acquire", "release", "acq_rel"}
_WRITES = {"volatile", "relaxed", "release"}
_OTHER_FENCES = {"proxy", "mbarrier_init"}


def depends_on_turns(kernel: Kernel) -> bool:
    """True if threads poll for the progress of others, and synchronise by fences or the like."""
    return any(map(_asks, kernel.instructions)) and any(map(_tells, kernel.instructions))


def _asks(instruction: Instruction) -> bool:
    root, parts = instruction.root, set(instruction.parts)
    return root == "atom" or (root == "ld" and bool(_ASKS & parts))


def _tells(instruction: Instruction) -> bool:
    root, parts = instruction.root, set(instruction.parts)
    fences = root == "membar" or (root == "fence" and not _OTHER_FENCES & parts)
    return fences or bool(_ORDERS & parts)


def orders(geometry: Geometry, executed: int) -> Iterator[Turns]:
    """Return the orders that are cheap enough after so many thread-instructions."""
    for width in (WARP, geometry.width):
        if executed // width <= _MOST_STEPS:
            yield from (Turns(width), Turns(width, last_first=True))
            yield from (Turns(width, yields=True), Turns(width, pauses=True))
            return


def strong_writes(kernel: Kernel) -> set[int]:
    """Return the places of instructions that write what others may ask for."""
    return {
        place
        for place, each in enumerate(kernel.instructions)
        if each.root in ("atom", "red") or (each.root == "st" and _WRITES & set(each.parts))
    }


class Snapshot:
    """Contents of the arrays among the arguments of a launch."""

    def __init__(self, arguments: Sequence[Argument]):
        arrays = [each.array if isinstance(each, TensorMap) else each for each in arguments]
        self._kept = [
            (array, array.copy())
            for array in arrays
            if isinstance(array, np.ndarray) and array.flags.writeable
        ]

    def restore(self) -> None:
        """Write it back."""
        for array, before in self._kept:
            array[...] = before
