# SPDX-License-Identifier: Apache-2.0
"""
Arranges a register tile: which rows and columns each thread owns, and where the threads of a warp
lie.

    tile.launch (..., %tm = thread 16 m, %tn = thread 16 n, %sm = register 2 m, %vm = register 4 m,
                 %sn = register 2 n, %vn = register 4 n) {
      ... %bs[%sn * 64 + %tn * 4 + %vn, %ki * 4 + %kv] ...

becomes, with `permute-register-tile{vm=4 vn=1 lanes_m=4 fastest=n}`,

    tile.launch (..., %wm = warp 4 m, %wn = warp 2 n, %lm = lane 4 m, %ln = lane 8 n,
                 %sm = register 2 m, %vm = register 4 m, %sn = register 8 n) {
      ... %bs[%sn * 16 + %wn * 8 + %ln, %ki * 4 + %kv] ...

Each thread owns strips of `vn` adjacent columns, which one access can move. From one strip to the
next it skips the columns of all other threads. The same holds for strips of `vm` rows. A warp is
`lanes_m` threads high; `fastest` is the side along which threads are numbered first.

Adjacent columns make wide stores. But if a slab is read along K, threads that own every fourth row
of it conflict in a bank. No pad that keeps accesses of 16 bytes avoids that. The rows of that slab
are dealt out to four piles (`rows_to_piles.py`) if they are then read faster. With `deal 4`, rows
0, 4, 8, ... of `%bs` are adjacent in memory:

    ... %bs[%tn * 4 + %vn, %ki * 4 + %kv] : memref<128x16xf32, #tile.layout<deal 4>, 3 : i64>

The default is in `passes/tile/taste/permute_register_tile.py`.
"""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilewright.dialects import tile
from tilewright.dialects.axes import Role
from tilewright.dialects.tile.attributes import Level
from tilewright.passes.cost.slab_conflicts import SlabConflicts, conflicts_of
from tilewright.passes.facts.memoised import held
from tilewright.passes.facts.named_slabs import set_layout
from tilewright.passes.reporting.trace import Rule
from tilewright.passes.tile.kernel_schedule import is_scheduled
from tilewright.passes.tile.permuted_axes import bind_registers, bind_threads, keep_registers
from tilewright.passes.tile.rebind import Rebinding
from tilewright.passes.tile.register_tile_sides import (
    Side,
    height_in_order,
    sides_of,
    warp_heights,
)
from tilewright.passes.tile.rows_to_piles import layouts_in_piles
from tilewright.passes.tile.scheduling_decision import Questions
from tilewright.passes.tile.scheduling_pass import SchedulingPass


@dataclass(frozen=True)
class PermuteRegisterTilePass(SchedulingPass, RewritePattern):
    """Arrange the rows and columns that threads own in a register tile."""

    name = "permute-register-tile"
    RULE: ClassVar[Rule] = Rule("t", 9, "permute_register_tile")

    vm: int | None = None
    """Number of adjacent rows in a strip of a thread."""
    vn: int | None = None
    """Number of adjacent columns in a strip of a thread."""
    lanes_m: int | None = None
    """Number of a warp's threads along the rows; 0 if warps are not rectangles."""
    fastest: str | None = None
    """Side along which threads are numbered first, `n` or `m`."""

    def reason_against(self, launch: tile.LaunchOp) -> str | None:
        if any(is_scheduled(launch.kernel, name) for name in (self.name, "tensor-core")):
            return "its register tile is arranged already"
        sides = sides_of(launch)
        if not sides or all(side.elements == 1 for side in sides):
            return "its threads own no rows and columns in registers (register-tile)"
        return None

    def questions(self, launch: tile.LaunchOp) -> Questions:
        m, n = sides_of(launch)
        heights = {*warp_heights(m, n), *(height_in_order(m, n, r) for r in (Role.M, Role.N))}
        return {
            "vm": _divisors(m.elements),
            "vn": _divisors(n.elements),
            "lanes_m": sorted(heights),
            "fastest": ("m", "n"),
        }

    def reason_not_possible(self, launch: tile.LaunchOp) -> str | None:
        m, n = sides_of(launch)
        for side, vector in self._with_vectors(m, n):
            kind = {Role.M: "rows", Role.N: "columns"}[side.role]
            if vector < 1 or side.elements % vector:
                return f"{side.elements} {kind} of a thread do not divide into strips of {vector}"
            if side.is_parted and vector != side.vector:
                return (
                    f"values are joined across %{side.hint} alone; leave v{side.role} at "
                    f"{side.vector}"
                )
        if self.fastest not in ("n", "m"):
            return f"fastest is n or m, not '{self.fastest}'"
        possible = {*warp_heights(m, n), height_in_order(m, n, Role(self.fastest))}
        if self.lanes_m in possible:
            return None
        return (
            f"for {m.thread.extent} by {n.thread.extent} threads lanes_m is "
            f"{' or '.join(map(str, sorted(possible)))}, not {self.lanes_m}"
        )

    def _with_vectors(self, m: Side, n: Side) -> list[tuple[Side, int]]:
        assert self.vm is not None
        assert self.vn is not None
        return [(m, self.vm), (n, self.vn)]

    @op_type_rewrite_pattern
    def match_and_rewrite(self, launch: tile.LaunchOp, rewriter: PatternRewriter) -> None:
        with arranged(self, launch) as conflicts:
            for stage, dealt in layouts_in_piles(conflicts).items():
                set_layout(stage, dealt, rewriter)
            if conflicts.launch is not launch:
                rewriter.replace(launch, conflicts.launch)

    def rebinding(self, launch: tile.LaunchOp, m: Side, n: Side) -> Rebinding:
        """
        Return a rebinding of the launch's axes, in which sides `m` and `n` are arranged by the
        options.
        """
        assert self.lanes_m is not None
        assert self.fastest is not None
        rebinding, sides = Rebinding(), {axis for side in (m, n) for axis in side.axes}
        for axis in launch.axes_at(Level.BLOCK):
            rebinding.keep(axis)
        threads = bind_threads(rebinding, m, n, self.lanes_m, Role(self.fastest))
        for axis in launch.axes_at(Level.REGISTER):
            if axis not in sides:
                rebinding.keep(axis)
        for side, vector in self._with_vectors(m, n):
            if vector == side.vector:
                keep_registers(rebinding, side, threads[side.role])
            else:
                bind_registers(rebinding, side, vector, threads[side.role])
        return rebinding


def _divisors(number: int) -> list[int]:
    return [each for each in range(1, number + 1) if number % each == 0]


@held
@contextmanager
def arranged(step: PermuteRegisterTilePass, launch: tile.LaunchOp) -> Generator[SlabConflicts]:
    """
    Context whose value is the bank conflicts of a copy of the launch, arranged by `step`. The copy
    is erased afterwards unless the caller has inserted it.
    """
    before, rebinding = conflicts_of(launch), step.rebinding(launch, *sides_of(launch))
    if rebinding.keeps_all(launch):
        yield before
        return
    new = rebinding.rebound(launch)
    yield SlabConflicts(new, filled_like=before)
    if new.parent is None:
        new.erase()
