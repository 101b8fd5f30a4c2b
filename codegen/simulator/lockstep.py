# SPDX-License-Identifier: Apache-2.0
"""
Volatile accesses that take a warp's lanes to run in lockstep, which they do not since Volta.

    volatile float* v = shared;
    v[t] += v[t + 16];                  read before or after thread t + 16 has written it?
    v[t] += v[t + 8];

Volatile accesses are strong, and do not race with each other. Yet what such a load returns is left
open, as long as no `__syncwarp` orders it. That is how flags are asked for, again and again or to
decide something. A value that is stored, or computed with and then stored, is data instead, and
must be ordered (CUDA C++ Programming Guide, "Independent Thread Scheduling").
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
        unknown = (before != 0) & (who != lanes) & (who // WARP == lanes // WARP)
        unknown[unknown] = ~self._order.knows(lanes[unknown], who[unknown], before[unknown] >> 32)
        if not unknown.any():
            return
        first = int(np.argmax(unknown))
        name = self._geometry.name
        self._findings.add(
            Kind.RACE,
            touch.line,
            f"in shared memory, {name(int(lanes[first]))} {verb} what another lane of its warp "
            f"{other}: {name(int(who[first]))}, with no __syncwarp between: lanes of a warp do not "
            "run in lockstep, also where accesses are volatile",
        )


def _all(cells: Integers, _: Stamps) -> Booleans:
    return np.ones(len(cells), np.bool_)
