# SPDX-License-Identifier: Apache-2.0
"""
Block barriers: `bar.sync` and its relatives. PTX ISA 9.0, section 9.7.14.1.

A barrier opens for a block when all its threads that run have come (or as many as the instruction
says). Threads that come to different barriers, or that exit while others wait, are reported: CUDA
asks that `__syncthreads()` is reached by the whole block or by none of it.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tilewright.codegen.simulator.findings import Findings, Kind
from tilewright.codegen.simulator.geometry import Geometry
from tilewright.codegen.simulator.lanes import WARP, Booleans, Integers, Lanes, merge
from tilewright.codegen.simulator.operands import Instruction
from tilewright.codegen.simulator.registers import Values

_BARRIERS = 16
"""Barriers per block."""


@dataclass(frozen=True, eq=False)
class Barrier:
    """
    One barrier instruction: which barrier, how many threads (None: the block).

    `reduce` tells what the lanes get when they pass (`bar.red`): it takes the lanes, and the block
    of each.
    """

    instruction: Instruction
    number: Values
    threads: Values | None
    reduce: Callable[[Lanes, Integers], None]


class Hall:
    """The lanes of a batch of blocks that wait at barriers."""

    def __init__(self, geometry: Geometry, findings: Findings, alive: Booleans):
        self._geometry = geometry
        self._findings = findings
        self._alive = alive
        self._live = alive.copy()
        self._waiting: list[tuple[int, Barrier, Lanes]] = []

    def come(self, place: int, barrier: Barrier, lanes: Lanes) -> None:
        self._waiting.append((place, barrier, lanes))

    def settle(self) -> list[tuple[int, Lanes]]:
        """Nothing else can run: open the barriers that are complete."""
        if not self._waiting:
            return []
        if self._everybody():
            place, barrier, lanes = self._waiting.pop()
            barrier.reduce(lanes, self._geometry.block_of[lanes.index])
            return [(place, lanes)]
        complete = self._complete()
        self._complain_divergence(complete)
        return self._open(complete)

    def stuck(self) -> Lanes | None:
        """Report a deadlock; returns the lanes that will never go on."""
        for place, barrier, lanes in self._waiting:
            name = self._geometry.name(int(lanes.numbers()[0]))
            others = {b.instruction.line for p, b, _ in self._waiting if p != place}
            elsewhere = f"; others wait in line {min(others)}" if others else ""
            self._findings.add(
                Kind.DEADLOCK,
                barrier.instruction.line,
                f"{name} waits forever at a barrier that too few threads reach{elsewhere}",
            )
        lanes = [lanes for _, _, lanes in self._waiting]
        self._waiting = []
        return merge(lanes, self._geometry.lanes) if lanes else None

    def _everybody(self) -> bool:
        """The usual case: all threads of all blocks at one barrier."""
        if len(self._waiting) != 1 or self._waiting[0][1].threads is not None:
            return False
        _, barrier, lanes = self._waiting[0]
        number = barrier.number[lanes.index]
        return lanes.count == np.count_nonzero(self._live) and bool((number == number[0]).all())

    def _keys(self, barrier: Barrier, lanes: Lanes) -> Integers:
        """Which barrier of which block."""
        return self._geometry.block_of[lanes.index] * _BARRIERS + barrier.number[lanes.index]

    def _per_key(self, keys: Integers) -> Integers:
        return np.bincount(keys, minlength=self._geometry.blocks * _BARRIERS)

    def _complete(self) -> Booleans:
        """Per key, whether as many threads wait as the barrier needs."""
        blocks = self._geometry.blocks
        arrived = self._per_key(np.concatenate([self._keys(b, x) for _, b, x in self._waiting]))
        alive = np.bincount(self._geometry.block_of[self._alive], minlength=blocks)
        needed = np.repeat(alive, _BARRIERS)
        for _, barrier, lanes in self._waiting:
            if barrier.threads is not None:
                needed[self._keys(barrier, lanes)] = barrier.threads[lanes.index]
        return (arrived >= needed) & (arrived > 0)

    def _open(self, complete: Booleans) -> list[tuple[int, Lanes]]:
        gone: list[tuple[int, Lanes]] = []
        left: list[tuple[int, Barrier, Lanes]] = []
        for place, barrier, lanes in self._waiting:
            opens = complete[self._keys(barrier, lanes)]
            go, stay = lanes.where(opens), lanes.where(~opens)
            if go is not None:
                barrier.reduce(go, self._geometry.block_of[go.index])
                gone.append((place, go))
            if stay is not None:
                left.append((place, barrier, stay))
        self._waiting = left
        return gone

    def _complain_divergence(self, complete: Booleans) -> None:
        blocks = self._geometry.block_of
        exited = np.bincount(blocks[self._live & ~self._alive], minlength=self._geometry.blocks)
        for place, barrier, lanes in sorted(self._waiting, key=lambda item: item[2].count):
            keys = self._keys(barrier, lanes)
            opens = complete[keys]
            if barrier.threads is None and (opens & (exited[keys // _BARRIERS] > 0)).any():
                self._complain(barrier, lanes, "others of its block have exited")
            elsewhere = self._elsewhere(place, barrier, keys)
            if (opens & elsewhere).any():
                lines = {b.instruction.line for p, b, _ in self._waiting if p != place}
                others = ", ".join(map(str, sorted(lines)))
                self._complain(barrier, lanes, f"others of its block wait in line {others}")
                return

    def _elsewhere(self, place: int, barrier: Barrier, keys: Integers) -> Booleans:
        """
        Whether the same barrier of the same block is reached at another instruction too.

        Warps may reach a barrier with a thread count at different instructions, lanes of a warp
        may not.
        """
        here, other = np.zeros(len(keys), np.bool_), np.zeros(0, np.int64)
        for another_place, another, lanes in self._waiting:
            if another_place == place:
                continue
            if barrier.threads is None:
                other = np.concatenate([other, self._keys(another, lanes)])
            else:
                mine = next(x for p, _, x in self._waiting if p == place).numbers() // WARP
                here |= np.isin(mine, lanes.numbers() // WARP)
        return here | np.isin(keys, other)

    def _complain(self, barrier: Barrier, lanes: Lanes, what: str) -> None:
        self._findings.add(
            Kind.DIVERGENCE,
            barrier.instruction.line,
            f"{self._geometry.name(int(lanes.numbers()[0]))} waits at a block barrier while {what}",
        )
