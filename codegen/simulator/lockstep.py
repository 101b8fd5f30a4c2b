# SPDX-License-Identifier: Apache-2.0
"""
Volatile loads of data that nothing orders after the store whose value they read.

    volatile float* v = shared;
    v[t] += v[t + 16];                  read before or after thread t + 16 has written it?
    v[t] += v[t + 8];

Volatile accesses are strong and do not race with each other. But the value of a volatile load is
undetermined unless the load is ordered after the store. Within a warp, `__syncwarp` orders them:
since Volta, lanes do not run in lockstep. Between warps, a barrier or fences order them.

Polling a flag, or branching on it, needs no order. A loaded value that is stored, also after
arithmetic, is data and must be ordered (CUDA C++ Programming Guide, "Independent Thread
Scheduling", "Memory Fence Functions").
"""

import numpy as np

from tilewright.codegen.simulator.crowds import AccessLog
from tilewright.codegen.simulator.findings import Findings, Kind
from tilewright.codegen.simulator.geometry import Geometry
from tilewright.codegen.simulator.instruction_flow import is_stored
from tilewright.codegen.simulator.kernel import Kernel
from tilewright.codegen.simulator.lanes import WARP, Booleans, Integers
from tilewright.codegen.simulator.operands import Instruction, Register, Vector
from tilewright.codegen.simulator.order import THREAD_MASK, Order, Stamps
from tilewright.codegen.simulator.spins import is_in_polling_loop
from tilewright.codegen.simulator.touches import Touch

_IN_WARP = "another lane of its warp", "__syncwarp", "lanes of a warp do not run in lockstep"
_ELSEWHERE = "another thread", "barrier or fences", "nothing orders these accesses"


def loads_data(kernel: Kernel, instruction: Instruction) -> bool:
    """
    True for a volatile load outside of polling loops whose value, or a result of it, is stored.
    """
    if "volatile" not in instruction.parts or is_in_polling_loop(kernel, instruction):
        return False
    target = instruction.operands[0]
    registers = target.items if isinstance(target, Vector) else (target,)
    return any(isinstance(each, Register) and is_stored(kernel, each) for each in registers)


class LockstepAccesses:
    """Volatile loads of data, and strong stores, to cells of shared memory."""

    def __init__(self, cells: int, geometry: Geometry, order: Order, findings: Findings):
        self._geometry = geometry
        self._order = order
        self._findings = findings
        self._written: Stamps = np.zeros(cells, np.int64)
        self._reads = AccessLog(cells, THREAD_MASK, _all)

    def read(self, touch: Touch) -> None:
        """
        Record a load. Report a race with the last store to a cell of it, if the load is not ordered
        after this store.
        """
        cells, lanes = touch.cells.ravel(), touch.lanes_of_cells
        self._compare(touch, lanes, self._written[cells], "reads", "writes")
        self._reads.add(cells, self._order.stamps(lanes))

    def write(self, touch: Touch) -> None:
        """
        Record a store. Report races with earlier loads of its cells, if the store is not ordered
        after them.
        """
        cells, lanes = touch.cells.ravel(), touch.lanes_of_cells
        places, before = self._reads.earlier(cells, self._order.knowledge(lanes))
        self._compare(touch, lanes[places], before, "writes", "reads")
        self._written[cells] = self._order.stamps(lanes)

    def _compare(
        self, touch: Touch, lanes: Integers, before: Stamps, verb: str, other: str
    ) -> None:
        writers = before & THREAD_MASK
        unknown = (before != 0) & (writers != lanes)
        others, times = writers[unknown], before[unknown] >> 32
        unknown[unknown] = ~self._order.knows(lanes[unknown], others, times)
        if not unknown.any():
            return
        first = int(np.argmax(unknown))
        lane, other_lane, name = int(lanes[first]), int(writers[first]), self._geometry.name
        same_warp = lane // WARP == other_lane // WARP
        party, order, why = _IN_WARP if same_warp else _ELSEWHERE
        self._findings.add(
            Kind.RACE,
            touch.line,
            f"in shared memory, {name(lane)} {verb} what {party} {other}: {name(other_lane)}, "
            f"with no {order} between: {why}, even if they are volatile",
        )


def _all(cells: Integers, _: Stamps) -> Booleans:
    return np.ones(len(cells), np.bool_)
