# SPDX-License-Identifier: Apache-2.0
"""Warp collectives, and the lanes that execute one together (`collectives.py` gathers them)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tilewright.codegen.simulator.findings import Findings, Kind
from tilewright.codegen.simulator.geometry import Geometry
from tilewright.codegen.simulator.lanes import WARP, Booleans, Integers, Lanes, Masks, warp_bits
from tilewright.codegen.simulator.operands import Instruction
from tilewright.codegen.simulator.registers import Values

ALL_MEMBERS = 0xFFFFFFFF


@dataclass(frozen=True, eq=False)
class Collective:
    """
    Warp collective: its source values, its member mask, and the function that computes results.

    `orders_memory` is true if writes of members before it are visible to all members after it. All
    32 lanes must execute an `aligned` collective, and all of them the same instruction.
    """

    instruction: Instruction
    sources: list[Values]
    mask: NDArray[np.uint32]
    meet: "Callable[[Meeting], None]"
    orders_memory: bool = False
    aligned: bool = False

    @property
    def key(self) -> object:
        """Key that is equal for instructions that lanes may execute as one collective."""
        return self if self.aligned else self.instruction.opcode


class Meeting:
    """Lanes that execute a collective together, with the source values of all lanes."""

    def __init__(
        self,
        collective: Collective,
        lanes: Lanes,
        present: Booleans,
        brought: list[Values],
        findings: Findings,
        geometry: Geometry,
    ):
        self._collective = collective
        self._present = present
        self._brought = brought
        self._findings = findings
        self._geometry = geometry
        self.lanes = lanes
        self.index = lanes.index
        self.numbers = lanes.numbers()
        self.lane_in_warp = self.numbers % WARP
        self.members: Masks = collective.mask[lanes.index] & self._bits(present)

    def _bits(self, holds: Booleans) -> Masks:
        """
        Return, per lane, a word of 32 bits for its warp: bit `n` is set if `holds` is true for lane
        `n` of the warp.
        """
        return warp_bits(holds)[self.numbers // WARP]

    def mine(self, source: int) -> Values:
        """Return each lane's own value of the collective's source number `source`."""
        return self._brought[source][self.index]

    def of(self, source: int, lane: Integers) -> Values:
        """Return the value of source number `source` that lane `lane` of each lane's warp has."""
        return self._brought[source][self.numbers - self.lane_in_warp + lane]

    def ballot(self, source: int) -> Masks:
        return self._bits(self._brought[source] & self._present) & self.members

    @property
    def member_table(self) -> Booleans:
        """Table of shape (lanes, 32), true where a lane of the warp is a member."""
        return (self.members[:, None] >> np.arange(WARP, dtype=np.uint32) & 1).astype(np.bool_)

    def table(self, source: int) -> Values:
        """
        Return a source value of all lanes of each lane's warp, as an array of shape (lanes, 32).
        """
        return self._brought[source].reshape(-1, WARP)[self.numbers // WARP]

    def whole_warps(self) -> Lanes | None:
        """
        Return the lanes of warps of which all 32 lanes are members, None if there are none. Report
        the other warps.
        """
        are_whole = self.members == ALL_MEMBERS
        if not are_whole.all():
            first = int(self.numbers[np.argmin(are_whole)])
            self._findings.add(
                Kind.MASK,
                self._collective.instruction.line,
                f"{self._geometry.name(first)} executes {self._collective.instruction.root}, but "
                "not all 32 lanes of its warp do",
            )
        return self.lanes.where(are_whole)

    def check_source(self, source: Integers) -> None:
        """Report a shuffle that reads from a lane that is not a member."""
        missing = (self.members >> source.astype(np.uint32) & 1) == 0
        if missing.any():
            first = int(np.argmax(missing))
            self._findings.add(
                Kind.SHUFFLE,
                self._collective.instruction.line,
                f"{self._geometry.name(int(self.numbers[first]))} reads from lane "
                f"{int(source[first])} of its warp, which does not take part",
            )
