# SPDX-License-Identifier: Apache-2.0
"""
Updates of a place that a thread has observed there.

An update precedes what a thread does after it has read the updated value, or the value of a later
atomic at the same place. It also precedes what other threads do that know of that read. PTX ISA,
"Observation Order" and "Causality Order".

    if (atomicAdd(&count, 1) == blocks - 1) count = 0;    the last one has observed all updates

In another run the updates may come in another order. Updates therefore count as observed only by
strong loads, and by atomics whose result decides what their thread does.
"""

import numpy as np

from tilewright.codegen.simulator.crowds import Stamps
from tilewright.codegen.simulator.instruction_flow import decides
from tilewright.codegen.simulator.kernel import Kernel
from tilewright.codegen.simulator.lanes import Integers
from tilewright.codegen.simulator.operands import Instruction, Register, Vector

_MOST = 1 << 14


def observes(kernel: Kernel, instruction: Instruction) -> bool:
    """
    True for an atomic whose result may decide what its thread does: it observes earlier updates.
    """
    if instruction.root != "atom":
        return False
    result = instruction.operands[0]
    registers = result.items if isinstance(result, Vector) else (result,)
    return any(isinstance(each, Register) and decides(kernel, each) for each in registers)


class Observed:
    """
    Time of the last update and the last observation of each cell of an array, by each thread.

    `thread_mask` masks the bits of a stamp that name the thread.
    """

    def __init__(self, thread_mask: int) -> None:
        self._thread_mask = thread_mask
        self._rows = np.zeros((5, 0), np.int64)
        """
        Table with a column per cell and thread. Its rows are the cell, the thread, the time of the
        update, the time of the observation, and the stamp of the observation.
        """
        self._pending: list[Integers] = []
        self._now = 0
        self._count = 0

    def add(
        self, cells: Integers, stamps: Stamps, turns: Integers, *, updates: bool, observes: bool
    ) -> None:
        """
        Record accesses to cells: `turns` has their positions in the order in which they are
        executed.
        """
        when = np.empty(len(cells), np.int64)
        when[turns] = self._now + 1 + np.arange(len(cells))
        self._now += len(cells)
        rows = cells, stamps & self._thread_mask, when * updates, when * observes, stamps * observes
        self._pending.append(np.stack(rows))
        self._count += len(cells)
        if self._count > max(_MOST, 2 * self._rows.shape[1]):
            self._compact()

    def since(self, cells: Integers, threads: Integers) -> tuple[Integers, Stamps]:
        """
        Return observations of `cells` that came after the last update of the cell by its thread in
        `threads`.

        The result is pairs: an index into `cells`, and the stamp of the observation.
        """
        self._compact()
        known, by_thread, updated, observed, stamps = self._rows
        pairs: list[tuple[int, int]] = []
        for place, (cell, thread) in enumerate(np.stack([cells, threads]).T.tolist()):
            start, end = np.searchsorted(known, [cell, cell + 1]).tolist()
            mine = start + np.flatnonzero(by_thread[start:end] == thread)
            last = int(updated[mine[0]]) if len(mine) else 0
            after = start + np.flatnonzero(observed[start:end] > last)
            pairs += [(place, stamp) for stamp in stamps[after].tolist()]
        places, found = np.array(pairs, np.int64).reshape(-1, 2).T
        return places, found

    def refine(self, parts: int) -> None:
        """Divide each cell into `parts` cells."""
        self._compact()
        within = np.arange(self._rows.shape[1] * parts) % parts
        self._rows = np.repeat(self._rows, parts, axis=1)
        self._rows[0] = self._rows[0] * parts + within
        self._rows = self._rows[:, np.argsort(self._rows[0], kind="stable")]

    def _compact(self) -> None:
        """Merge pending accesses into one column per cell and thread."""
        if not self._pending:
            return
        rows = np.concatenate([self._rows, *self._pending], axis=1)
        self._pending, self._count = [], 0
        rows = rows[:, np.lexsort((rows[1], rows[0]))]
        starts = np.ones(rows.shape[1], np.bool_)
        starts[1:] = (rows[:2, 1:] != rows[:2, :-1]).any(axis=0)
        (first,) = np.nonzero(starts)
        latest = np.maximum.reduceat(rows[2:], first, axis=1)
        self._rows = np.concatenate([rows[:2, first], latest])
