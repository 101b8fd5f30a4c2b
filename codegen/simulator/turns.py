# SPDX-License-Identifier: Apache-2.0
"""
Other orders in which a kernel is run, if what it does may depend on that.

A kernel that asks for flags may find them set too early or too late, and what it has found out it
does without another barrier. So one that nothing is found in is run again: each warp for as long as
it can, the first ones first, and then the last ones first; or each block, where warps are too many.
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

_STRONG = {"volatile", "relaxed", "acquire"}
_OTHER_FENCES = {"proxy", "mbarrier_init"}


def depends_on_turns(kernel: Kernel) -> bool:
    """True if threads ask what others have done, and are told by fences or the like."""
    asks = any(i.root == "atom" or (i.root == "ld" and _STRONG & set(i.parts)) for i in _all(kernel))
    return asks and any(
        i.root == "membar"
        or (i.root == "fence" and not _OTHER_FENCES & set(i.parts))
        or {"acquire", "release", "acq_rel"} & set(i.parts)
        for i in _all(kernel)
    )


def _all(kernel: Kernel) -> Sequence[Instruction]:
    return kernel.instructions


def orders(geometry: Geometry, executed: int) -> Iterator[Turns]:
    """Return the orders that are cheap enough after so many thread-instructions."""
    for width in (WARP, geometry.width):
        if executed // width <= _MOST_STEPS:
            yield from (Turns(width, last_first) for last_first in (False, True))
            return


class Snapshot:
    """What lies in the arrays among the arguments of a launch."""

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
