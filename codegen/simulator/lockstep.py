# SPDX-License-Identifier: Apache-2.0
"""
Volatile loads of data in shared memory, which nothing orders after the store that they read.

    volatile float* v = shared;
    v[t] += v[t + 16];                  read before or after thread t + 16 has written it?
    v[t] += v[t + 8];

Volatile accesses are strong, and do not race with each other. Yet what such a load returns is left
open, as long as nothing orders it: `__syncwarp` within a warp, for since Volta lanes do not run in
lockstep, a barrier or fences else. That is how flags are asked for, again and again or to decide
something. A value that is stored, or computed with and then stored, is data instead, and must be
ordered (CUDA C++ Programming Guide, "Independent Thread Scheduling", "Memory Fence Functions").
"""

import numpy as np

from tilewright.codegen.simulator.crowds import Crowd
from tilewright.codegen.simulator.findings import Findings, Kind
from tilewright.codegen.simulator.geometry import Geometry
from tilewright.codegen.simulator.instruction_flow import is_stored
from tilewright.codegen.simulator.kernel import Kernel
from tilewright.codegen.simulator.lanes import WARP, Booleans, Integers
from tilewright.codegen.simulator.operands import Instruction, Register, Vector
from tilewright.codegen.simulator.order import WHO, Order, Stamps
from tilewright.codegen.simulator.spins import is_asked_again
from tilewright.codegen.simulator.touches import Touch

_WARP_MATES = "another lane of its warp", "__syncwarp", "lanes of a warp do not run in lockstep"
_OTHERS = "another thread", "barrier or fences", "nothing makes them come in this order"


def loads_data(kernel: Kernel, instruction: Instruction) -> bool:
    """True for a volatile load whose value is stored, and not asked for again and again."""
    if "volatile" not in instruction.parts or is_asked_again(kernel, instruction):
        return False
    target = instruction.operands[0]
    registers = target.items if isinstance(target, Vector) else (target,)
    return any(isinstance(each, Register) and is_stored(kernel, each) for each in registers)


class LockstepAccesses:
    """Volatile loads of data from the cells of shared memory, and volatile stores there."""

    def __init__(self, cells: int, geometry: Geometry, order: Order, findings: Findings):
        self._geometry = geometry
        self._order = order
        self._findings = findings
        self._written: Stamps = np.zeros(cells, np.int64)
        self._reads = Crowd(cells, WHO, _all)

    def read(self, touch: Touch) -> None:
        """Record a load, after stores that it has to know of."""
        cells, lanes = touch.cells.ravel(), touch.lanes_of_cells
        self._compare(touch, lanes, self._written[cells], "reads", "writes")
        self._reads.add(cells, self._order.stamps(lanes))

    def write(self, touch: Touch) -> None:
        """Record a store, after loads that it has to know of."""
        cells, lanes = touch.cells.ravel(), touch.lanes_of_cells
        places, before = self._reads.earlier(cells, self._order.knowledge(lanes))
        self._compare(touch, lanes[places], before, "writes", "reads")
        self._written[cells] = self._order.stamps(lanes)

    def _compare(
        self, touch: Touch, lanes: Integers, before: Stamps, verb: str, other: str
    ) -> None:
        who = before & WHO
        unknown = (before != 0) & (who != lanes)
        unknown[unknown] = ~self._order.knows(lanes[unknown], who[unknown], before[unknown] >> 32)
        if not unknown.any():
            return
        first = int(np.argmax(unknown))
        lane, stranger, name = int(lanes[first]), int(who[first]), self._geometry.name
        alike = lane // WARP == stranger // WARP
        party, order, why = _WARP_MATES if alike else _OTHERS
        self._findings.add(
            Kind.RACE,
            touch.line,
            f"in shared memory, {name(lane)} {verb} what {party} {other}: {name(stranger)}, "
            f"with no {order} between: {why}, also where accesses are volatile",
        )


def _all(cells: Integers, _: Stamps) -> Booleans:
    return np.ones(len(cells), np.bool_)
