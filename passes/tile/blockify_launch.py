# SPDX-License-Identifier: Apache-2.0
"""
Parts the free axes of a launch into blocks and threads; each thread does one element.

    tile.launch (%i = block 512 m, %j = block 2048 n) { ... %w[%k, %j] ... }

becomes, with `blockify-launch{m=16 n=16}`,

    tile.launch (%bm = block 32 m, %bn = block 128 n, %tm = thread 16 m, %tn = thread 16 n) {
      ... %w[%k, %bn * 16 + %tn] ...

A contraction gets a rectangle of `m` by `n` threads; any other launch, and a batch of matrices too
small to fill a warp, a line of `m * n` threads over all its axes together. Sizes that do not divide
are masked.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from tilewright.dialects import tile
from tilewright.dialects.axes import Role
from tilewright.dialects.kernel import WARP_SIZE
from tilewright.dialects.kernel_like import MAX_THREADS
from tilewright.dialects.tile_axes import Axis, Level
from tilewright.passes.tile.rebind import NewAxis, Rebinding, power_of_two, total_extent
from tilewright.passes.tile.rows import is_contraction, shares_rows
from tilewright.passes.trace import Rule, rewriting, skipped

RULE = Rule("t", 5, "blockify_launch")

_THREADS = 256


def legal(launch: tile.LaunchOp) -> str | None:
    """Why the launch cannot be parted, or None."""
    if any(axis.level is not Level.BLOCK for axis in launch.bound_axes()):
        return "its axes are bound already"
    if shares_rows(launch):
        return "threads share its rows (cooperative-reduce)"
    if not launch.axes:
        return "it has one element: one thread does it"
    return None


def choices(launch: tile.LaunchOp) -> tuple[int, int]:
    """The best guess for (m, n): a block that is full, wide along n where memory is contiguous."""
    if not _is_rectangular(launch):
        return 1, min(_THREADS, max(WARP_SIZE, power_of_two(total_extent(launch.bound_axes()))))
    n = min(WARP_SIZE, power_of_two(_extent(launch, Role.N)))
    m = min(_THREADS // n, power_of_two(_extent(launch, Role.M)))
    return max(m, WARP_SIZE // n), n


def _is_rectangular(launch: tile.LaunchOp) -> bool:
    """Whether a block does a part of one matrix."""
    matrix, batch = (
        total_extent(axis for axis in launch.bound_axes() if (axis.role is Role.BATCH) is is_batch)
        for is_batch in (False, True)
    )
    return is_contraction(launch) and (batch == 1 or matrix >= WARP_SIZE)


def _extent(launch: tile.LaunchOp, role: Role) -> int:
    return total_extent(axis for axis in launch.bound_axes() if axis.role is role)


def apply(launch: tile.LaunchOp, m: int, n: int) -> None:
    """Part the axes into blocks of `m` by `n` threads."""
    rebinding = Rebinding()
    axes = launch.bound_axes()
    if not _is_rectangular(launch):
        _part_line(rebinding, axes, m * n)
        rebinding.finish(launch)
        return
    rows = [axis for axis in axes if axis.role is Role.M]
    columns = [axis for axis in axes if axis.role is Role.N]
    for axis in axes:
        if axis.role is Role.BATCH:
            _keep(rebinding, axis)
    bm = rebinding.add(NewAxis("bm", Level.BLOCK, -(-total_extent(rows) // m), Role.M))
    bn = rebinding.add(NewAxis("bn", Level.BLOCK, -(-total_extent(columns) // n), Role.N))
    tm = rebinding.add(NewAxis("tm", Level.THREAD, m, Role.M))
    tn = rebinding.add(NewAxis("tn", Level.THREAD, n, Role.N))
    rebinding.substitute(rows, bm * m + tm, overruns=total_extent(rows) % m != 0)
    rebinding.substitute(columns, bn * n + tn, overruns=total_extent(columns) % n != 0)
    rebinding.finish(launch)


def _keep(rebinding: Rebinding, axis: Axis) -> None:
    name = axis.value.name_hint or "batch"
    index = rebinding.add(NewAxis(name, Level.BLOCK, axis.extent, axis.role))
    rebinding.substitute([axis], index, overruns=False)


def _part_line(rebinding: Rebinding, axes: list[Axis], threads: int) -> None:
    role = axes[0].role if axes else Role.FREE
    total = total_extent(axes)
    block = rebinding.add(NewAxis("b", Level.BLOCK, -(-total // threads), role))
    thread = rebinding.add(NewAxis("t", Level.THREAD, threads, role))
    index = block * threads + thread
    rebinding.substitute(axes, index, overruns=total % threads != 0)


@dataclass(frozen=True)
class BlockifyLaunchPass(ModulePass):
    """Part free axes into blocks and threads."""

    name = "blockify-launch"

    m: int | None = None
    """Threads along the rows of a contraction."""
    n: int | None = None
    """Threads along its columns."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Each launch of the module."""
        for launch in [inner for inner in op.walk() if isinstance(inner, tile.LaunchOp)]:
            if (reason := legal(launch)) is not None:
                skipped(RULE, launch, reason)
                continue
            m, n = choices(launch)
            m, n = m if self.m is None else self.m, n if self.n is None else self.n
            if m < 1 or n < 1 or m * n > MAX_THREADS:
                raise PassFailedException(
                    f"blockify-launch: m={m} n={n} is {m * n} threads; "
                    f"a block has 1 to {MAX_THREADS}"
                )
            kernel = launch.parent_op()
            assert kernel is not None
            with rewriting(RULE, kernel):
                apply(launch, m, n)
