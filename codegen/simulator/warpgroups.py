# SPDX-License-Identifier: Apache-2.0
"""
Multiplications that warpgroups have started and not waited for. PTX ISA, `wgmma`.

The sums appear in registers at once, but no instruction may touch them before a wait. The factors
are read when a multiplication starts, and once more at the wait: no thread or copy may
write them in between.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tilewright.codegen.simulator.findings import Findings, Kind
from tilewright.codegen.simulator.geometry import Geometry
from tilewright.codegen.simulator.kernel import Kernel
from tilewright.codegen.simulator.lanes import WARP, Booleans, Integers, Lanes
from tilewright.codegen.simulator.operands import Instruction
from tilewright.codegen.simulator.register_uses import names
from tilewright.codegen.simulator.registers import Values
from tilewright.codegen.simulator.shared_memory import SharedMemory

ROOT = "wgmma"
GROUP_WARPS = 4
"""Warps of a warpgroup."""


@dataclass(frozen=True)
class Reading:
    """
    Chunks of shared memory that warps read for a multiplication: by (warp, chunk), the byte within
    the batch. `lanes` are the first lanes of the warps.
    """

    lanes: Integers
    offsets: Integers
    items: Values
    line: int


@dataclass
class _Started:
    """A multiplication by some warps, given by number."""

    warps: Integers
    group: Integers
    running: Booleans
    sums: Sequence[str]
    readings: Sequence[Reading]


class Warpgroups:
    """State of the multiplications of a batch of blocks."""

    def __init__(
        self, kernel: Kernel, geometry: Geometry, shared: SharedMemory, findings: Findings
    ):
        self._geometry, self._shared, self._findings = geometry, shared, findings
        self._sums = {
            name
            for each in kernel.instructions
            if each.root == ROOT and each.operands and "mma_async" in each.parts
            for name in names(each.operands[:1])
        }
        self.reset()

    def reset(self) -> None:
        """Forget all multiplications, at the start of a batch."""
        warps = self._geometry.lanes // WARP
        self._started: list[_Started] = []
        self._committed = np.zeros(warps, np.int64)
        self._fenced = np.zeros(warps, np.bool_)
        self._number = np.zeros(warps, np.int64)
        """Multiplications that each warp has started."""
        self._doing: dict[tuple[int, ...], tuple[int, ...]] = {}
        """
        Line and descriptors of each multiplication, by block, warpgroup and number in its order.
        """
        self._under_way: dict[str, Integers] = {}
        """Number of multiplications under way that add to a register, by warp."""

    def fence(self, lanes: Lanes) -> None:
        """Record a `wgmma.fence`."""
        self._fenced[_warps(lanes)] = True

    def commit(self, lanes: Lanes) -> None:
        """Record a `wgmma.commit_group`."""
        self._committed[_warps(lanes)] += 1

    def start(
        self,
        lanes: Integers,
        descriptors: NDArray[np.uint64],
        sums: Sequence[str],
        readings: Sequence[Reading],
        line: int,
    ) -> None:
        """
        Record the start of a multiplication by warps, given by their first lanes, and the
        descriptors of each. Report warps that have no fence since the last wait, or that do not the
        same as the rest of their warpgroup.
        """
        warps = lanes // WARP
        if not self._fenced[warps].all():
            name = self._geometry.name(int(lanes[np.argmin(self._fenced[warps])]))
            self._findings.add(
                Kind.ASYNC_RACE,
                line,
                f"{name} starts a multiplication with no wgmma.fence since its last wait",
            )
        for lane, given in zip(lanes.tolist(), descriptors.tolist(), strict=True):
            self._compare(lane, (line, *given))
        self._count(warps, sums, 1)
        running = np.ones(len(warps), np.bool_)
        self._started.append(_Started(warps, self._committed[warps], running, sums, readings))

    def _compare(self, lane: int, doing: tuple[int, ...]) -> None:
        """Report a warp whose next multiplication is not the one of its warpgroup's other warps."""
        geometry, warp = self._geometry, lane // WARP
        group = self._group_of(lane)
        number = self._number[warp]
        self._number[warp] += 1
        if self._doing.setdefault((*group, int(number)), doing) != doing:
            self._findings.add(
                Kind.DESCRIPTOR,
                doing[0],
                f"{geometry.name(lane)} multiplies other matrices than the rest of its warpgroup",
            )

    def _group_of(self, lane: int) -> tuple[int, int]:
        """Return the block and the warpgroup of a lane."""
        geometry = self._geometry
        return int(geometry.block_of[lane]), int(geometry.thread[lane]) // (GROUP_WARPS * WARP)

    def wait(self, lanes: Lanes, pending: int) -> None:
        """Finish the multiplications that are not of the latest `pending` groups."""
        waiting = np.zeros(len(self._committed), np.bool_)
        waiting[_warps(lanes)] = True
        for each in self._started:
            old = each.group < self._committed[each.warps] - pending
            done = each.running & waiting[each.warps] & old
            if done.any():
                self._finish(each, done)
                each.running = each.running & ~done
        self._started = [each for each in self._started if each.running.any()]
        self._fenced[waiting] = False

    def guard(self, instruction: Instruction) -> Callable[[Lanes], None] | None:
        """
        Return a function that reports sums under way that an instruction touches; None if it
        touches no sums.
        """
        if instruction.root == ROOT or not self._sums:
            return None
        touched = [
            each for each in dict.fromkeys(names(instruction.operands)) if each in self._sums
        ]
        return (lambda lanes: self._touch(touched, lanes, instruction.line)) if touched else None

    def _touch(self, sums: Sequence[str], lanes: Lanes, line: int) -> None:
        if not self._started:
            return
        warps = np.unique(lanes.numbers() // WARP)
        for name in sums:
            counts = self._under_way.get(name)
            if counts is not None and counts[warps].any():
                lane = int(warps[np.argmax(counts[warps] > 0)]) * WARP
                self._findings.add(
                    Kind.ASYNC_RACE,
                    line,
                    f"{self._geometry.name(lane)} touches a sum of a multiplication that it has "
                    "not waited for",
                )
                return

    def exit(self, lanes: Lanes) -> None:
        """
        Report multiplications that exiting warps have not waited for, and warps that have done
        fewer than the rest of their warpgroup.
        """
        self._check_numbers(lanes)
        if not self._started:
            return
        ends = np.zeros(len(self._committed), np.bool_)
        ends[lanes.numbers() // WARP] = True
        for each in self._started:
            if (ends[each.warps] & each.running).any():
                lane = int(each.warps[np.argmax(ends[each.warps])]) * WARP
                self._findings.add(
                    Kind.UNAWAITED,
                    each.readings[0].line,
                    f"{self._geometry.name(lane)} ends with a multiplication that it has not "
                    "waited for",
                )

    def _check_numbers(self, lanes: Lanes) -> None:
        if not self._doing:
            return
        for lane in np.unique(lanes.numbers() // WARP * WARP).tolist():
            geometry, number = self._geometry, int(self._number[lane // WARP])
            group = self._group_of(lane)
            if (doing := self._doing.get((*group, number))) is not None:
                self._findings.add(
                    Kind.MASK,
                    doing[0],
                    f"{geometry.name(lane)} ends without a multiplication of its warpgroup",
                )

    def _finish(self, each: _Started, done: Booleans) -> None:
        self._count(each.warps[done], each.sums, -1)
        for reading in each.readings:
            lanes, offsets = reading.lanes[done], reading.offsets[done]
            self._shared.read_chunks(lanes, offsets, reading.line)
            now = self._shared.chunks(offsets)
            changed = (now.view(np.uint64) != reading.items[done].view(np.uint64)).any(axis=-1)
            if changed.any():
                name = self._geometry.name(int(lanes[np.argmax(changed)]))
                self._findings.add(
                    Kind.ASYNC_RACE,
                    reading.line,
                    f"shared memory changes while a multiplication of {name} reads it",
                )

    def _count(self, warps: Integers, sums: Sequence[str], change: int) -> None:
        for name in sums:
            if name not in self._under_way:
                self._under_way[name] = np.zeros(len(self._committed), np.int64)
            self._under_way[name][warps] += change


def _warps(lanes: Lanes) -> Integers:
    """Return the numbers of whole warps."""
    return lanes.numbers()[::WARP] // WARP
