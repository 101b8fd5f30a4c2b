# SPDX-License-Identifier: Apache-2.0
"""
Races in global memory, by happens-before.

The last write and the last read of each element are kept as a stamp: `time << 40 | thread + 1`,
thread numbers within the launch. Of two accesses, one of which writes, something must order the
second after the first (`order.py`). Two strong accesses (atomics, volatile, acquire, release,
relaxed) do not race. Accesses to a part of an element are not compared.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tilewright.codegen.simulator.findings import Findings, Kind
from tilewright.codegen.simulator.geometry import Geometry
from tilewright.codegen.simulator.lanes import Integers
from tilewright.codegen.simulator.memory import Access, Mode
from tilewright.codegen.simulator.order import Order

_TIME_SHIFT = 40
_THREAD = (1 << _TIME_SHIFT) - 1


class Cells:
    """
    An array's elements, or 4 bytes of larger ones: who wrote last, whether by a strong access, and
    who read last.
    """

    def __init__(self, what: str, bytes: int, size: int):
        self.what = what
        self.size = size
        count = -(-bytes // size)
        self.writer = np.zeros(count, np.int64)
        self.reader = np.zeros(count, np.int64)
        self.strong = np.zeros(count, np.int8)


def _strength(access: Access) -> int:
    """0 for an access that must not meet others, 1 for one that may meet those of its block."""
    if access.strong is None:
        return 0
    return 1 if access.strong == "cta" else 2


@dataclass(frozen=True, slots=True)
class _Now:
    """An access that is compared with earlier ones: the lanes and their stamps."""

    array: Cells
    lanes: Integers
    mine: Integers
    access: Access


class GlobalRaces:
    """Compares each access with those before it."""

    def __init__(self, geometry: Geometry, order: Order, findings: Findings):
        self._geometry = geometry
        self._order = order
        self._findings = findings

    def check(self, array: Cells, lanes: Integers, offsets: Integers, access: Access) -> None:
        """The lanes access bytes of an array that may be array."""
        thread = lanes + (self._geometry.first_block * self._geometry.width + 1)
        mine = (self._order.time[lanes] << _TIME_SHIFT) | thread
        now, cells = _Now(array, lanes, mine, access), offsets // array.size
        for part in range(-(-access.size // array.size)):
            self._check_cells(now, cells + part)

    def _check_cells(self, now: "_Now", cells: Integers) -> None:
        array, access = now.array, now.access
        before = array.writer[cells]
        if before.any():
            self._compare(now, np.where(self._both_strong(now, cells), 0, before), "wrote")
        if access.mode is Mode.LOAD:
            if access.strong is None:
                array.reader[cells] = now.mine
            return
        readers = array.reader[cells]
        if readers.any():
            self._compare(now, readers, "read")
        array.writer[cells] = now.mine
        array.strong[cells] = _strength(access)
        if access.strong is None:
            self._compare(now, array.writer[cells], "writes")

    def _both_strong(self, now: "_Now", cells: Integers) -> NDArray[np.bool_]:
        """Strong accesses do not race; those of the scope `cta` only with others of the block."""
        theirs, mine = now.array.strong[cells], _strength(now.access)
        if not mine or not theirs.any():
            return np.zeros(len(cells), np.bool_)
        width = self._geometry.width
        there = ((now.array.writer[cells] & _THREAD) - 1) // width
        here = ((now.mine & _THREAD) - 1) // width
        return (theirs > 0) & ((np.minimum(theirs, mine) > 1) | (here == there))

    def _compare(self, now: "_Now", before: Integers, verb: str) -> None:
        """Of what others did `before`, what do the lanes not know?"""
        other = (before != now.mine) & (before != 0) & ((before ^ now.mine) & _THREAD != 0)
        if now.access.size < now.array.size or not other.any():
            return
        width = self._geometry.width
        who, time = (before[other] & _THREAD) - 1, before[other] >> _TIME_SHIFT
        me = now.lanes[other]
        members = self._order.members
        then = who - self._geometry.first_block * width
        near = (then // members == me // members) & (verb != "writes")
        ordered = np.zeros(len(who), np.bool_)
        ordered[near] = self._order.knows(me[near], then[near], time[near])
        if self._order.uses_rows and verb != "writes" and not near.all():
            far = ~near
            ordered[far] = self._order.knows_elsewhere(me[far], who[far], time[far])
        if ordered.all():
            return
        first = int(np.argmin(ordered))
        self._findings.add(
            Kind.RACE,
            now.access.line,
            f"{self._geometry.name(int(me[first]))} {now.access.mode.value} a place of "
            f"{now.array.what} that {self._geometry.launch_name(int(who[first]))} {verb}, with "
            "nothing to order them",
        )
