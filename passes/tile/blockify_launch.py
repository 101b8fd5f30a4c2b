# SPDX-License-Identifier: Apache-2.0
"""
Parts the free axes of a launch into blocks and threads; each thread does one element.

    tile.launch (%i = block 512 m, %j = block 2048 n) { ... %w[%k, %j] ... }

becomes, with `blockify-launch{m=16 n=16}`,

    tile.launch (%bm = block 32 m, %bn = block 128 n, %tm = thread 16 m, %tn = thread 16 n) {
      ... %w[%k, %bn * 16 + %tn] ...

A block of a contraction is a rectangle of `m` by `n` elements; one of any other launch, and of a
batch of matrices too small to fill a warp, is a line of `n` elements along all axes together. Sizes
that do not divide are masked. A block may have more elements than a GPU has threads, until
`register-tile` gives each thread several. How far reductions go (`below`) becomes the same for all
threads of a block; blocks of which nobody needs a contraction, as those beyond the diagonal of
causal attention's scores, do none of its chunks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilewright.dialects import tile
from tilewright.dialects.axes import Role
from tilewright.dialects.kernel_like import MAX_THREADS
from tilewright.dialects.target import WARP_SIZE
from tilewright.dialects.target import target as target_named
from tilewright.dialects.tile.attributes import Axis, Level
from tilewright.passes.reporting.trace import Rule
from tilewright.passes.tile.rebind import NewAxis, Rebinding, power_of_two, total_extent
from tilewright.passes.tile.row_facts import is_contraction, rows_are_cooperative
from tilewright.passes.tile.scheduling_pass import SchedulingPass
from tilewright.passes.tile.step_bounds import leave_out_unneeded_steps

_THREADS = 256
"""What a block has at first guess, when nothing gives its threads several elements."""

_SIDES = (8, 16, 32, 64, 128, 256)
_LINES = (32, 64, 128, 256, 512, 1024, 2048, 4096)


@dataclass(frozen=True)
class BlockifyLaunchPass(SchedulingPass, RewritePattern):
    """Part free axes into blocks and threads."""

    name = "blockify-launch"
    RULE: ClassVar[Rule] = Rule("t", 5, "blockify_launch")

    m: int | None = None
    """Rows of a contraction that a block does."""
    n: int | None = None
    """Columns of a contraction that a block does; elements of any other launch."""

    def reason_against(self, launch: tile.LaunchOp) -> str | None:
        if any(axis.level is not Level.BLOCK for axis in launch.bound_axes()):
            return "its axes are bound already"
        if not _parted(launch):
            return "it has one element: one thread does it"
        if tile.stages_of(launch):
            return "what it stages would differ between the threads of a block"
        return None

    def reason_not_worthwhile(self, launch: tile.LaunchOp) -> str | None:
        return (
            "threads share its rows (cooperative-reduce)" if rows_are_cooperative(launch) else None
        )

    def choices(self, launch: tile.LaunchOp) -> Sequence[Self]:
        """At first blocks that are full, and wide along n, where memory is contiguous."""
        if not is_rectangular(launch):
            line = max(WARP_SIZE, power_of_two(total_extent(_parted(launch))))
            lines = dict.fromkeys([min(_THREADS, line), *_up_to(_LINES, line)])
            return [type(self)(self.target, None, n) for n in lines]
        rows, columns = (power_of_two(_extent(launch, role)) for role in (Role.M, Role.N))
        n = min(WARP_SIZE, columns)
        m = max(min(_THREADS // n, rows), WARP_SIZE // n)
        sides = [(a, b) for a in _up_to(_SIDES, rows) for b in _up_to(_SIDES, columns)]
        return [type(self)(self.target, a, b) for a, b in dict.fromkeys([(m, n), *sides])]

    def reason_not_possible(self, launch: tile.LaunchOp) -> str | None:
        if not is_rectangular(launch) and self.m not in (None, 1):
            return f"m={self.m} is for contractions; a block of this launch is a line of n elements"
        m, n = self._extents()
        if m < 1 or n < 1:
            return f"a block has one element or more, not m={m} by n={n}"
        most = MAX_THREADS * target_named(self.target).max_registers_per_thread
        if m * n > most:
            return f"the registers of {MAX_THREADS} threads hold {most} elements, not {m * n}"
        return None

    def _extents(self) -> tuple[int, int]:
        assert self.n is not None
        return 1 if self.m is None else self.m, self.n

    def pattern(self, launch: tile.LaunchOp) -> RewritePattern:
        return self

    @op_type_rewrite_pattern
    def match_and_rewrite(self, launch: tile.LaunchOp, rewriter: PatternRewriter) -> None:
        rebinding, (m, n) = Rebinding(), self._extents()
        if is_rectangular(launch):
            _part_rectangle(rebinding, launch, m, n)
        else:
            _part_line(rebinding, launch, n)
        leave_out_unneeded_steps(rebinding.finish(launch, rewriter), rewriter)


def _up_to(sizes: Sequence[int], most: int) -> list[int]:
    """Those that no smaller one does as well as: no longer than the launch."""
    return [size for size in sizes if size <= max(most, sizes[0])]


def _parted(launch: tile.LaunchOp) -> list[Axis]:
    """The axes that are parted, in order: all but those that split a reduction."""
    return [axis for axis in launch.bound_axes() if axis.role is not Role.SPLIT]


def is_rectangular(launch: tile.LaunchOp) -> bool:
    """Whether a block does a part of one matrix."""
    batch = _extent(launch, Role.BATCH)
    matrix = total_extent(axis for axis in _parted(launch) if axis.role is not Role.BATCH)
    return is_contraction(launch) and (batch == 1 or matrix >= WARP_SIZE)


def _extent(launch: tile.LaunchOp, role: Role) -> int:
    return total_extent(axis for axis in launch.bound_axes() if axis.role is role)


def _part_rectangle(rebinding: Rebinding, launch: tile.LaunchOp, m: int, n: int) -> None:
    axes = launch.bound_axes()
    rows = [axis for axis in axes if axis.role is Role.M]
    columns = [axis for axis in axes if axis.role is Role.N]
    for role in (Role.SPLIT, Role.BATCH):
        for axis in axes:
            if axis.role is role:
                rebinding.keep(axis)
    bm = rebinding.add(NewAxis("bm", Level.BLOCK, -(-total_extent(rows) // m), Role.M))
    bn = rebinding.add(NewAxis("bn", Level.BLOCK, -(-total_extent(columns) // n), Role.N))
    tm = rebinding.add(NewAxis("tm", Level.THREAD, m, Role.M))
    tn = rebinding.add(NewAxis("tn", Level.THREAD, n, Role.N))
    rebinding.substitute(rows, bm * m + tm, overruns=total_extent(rows) % m != 0)
    rebinding.substitute(columns, bn * n + tn, overruns=total_extent(columns) % n != 0)


def _part_line(rebinding: Rebinding, launch: tile.LaunchOp, n: int) -> None:
    parted = _parted(launch)
    for axis in launch.bound_axes():
        if axis not in parted:
            rebinding.keep(axis)
    total, role = total_extent(parted), parted[0].role
    block = rebinding.add(NewAxis("b", Level.BLOCK, -(-total // n), role))
    thread = rebinding.add(NewAxis("t", Level.THREAD, n, role))
    rebinding.substitute(parted, block * n + thread, overruns=total % n != 0)
