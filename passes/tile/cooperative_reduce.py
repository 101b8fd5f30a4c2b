# SPDX-License-Identifier: Apache-2.0
"""
Shares each row among threads: they reduce parts of it and combine, then each writes its part.

    tile.launch (%i = block 32 row) {
      %s = loop.reduce %k in 2048 with add { ... %x[%i, %k] ... }
      loop.for %j in 2048 { ... loop.store %0, %out[%i, %j] ... }
    }

becomes, with `cooperative-reduce{threads=256 rows=1}`,

    tile.launch (%i = block 32 row, %t = thread 256 k) {
      %p = loop.reduce %k in 8 with add { ... %x[%i, %k * 256 + %t] ... }
      %s = tile.combine %p across %t with add : f32
      loop.for %j in 8 { ... loop.store %0, %out[%i, %j * 256 + %t] ... }
    }

With as many threads as a row is long the loops are gone: each thread has an element of the row, and
loads it once. `register-tile` then gives each thread several of them: the row is in registers.
`row=registers` asks for that, `row=stage` for fewer threads, which go along the row in steps.

A block does `rows` rows. What does not depend on the shared axis, and a reduction that is shorter
than a warp, is computed by every thread and stored by the first. With `columns=true` the threads of
a warp lie along the rows, not along the shared axis: so they access neighbours where rows are the
columns of a matrix.

In a contraction that is parted into blocks, what is reduced for each of its rows alone (the maximum
and the sum of attention's scores) is shared among the threads along the row's columns.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Role
from tilewright.dialects.kernel import WARP_SIZE
from tilewright.dialects.kernel_like import MAX_THREADS
from tilewright.dialects.tile import varies_along
from tilewright.dialects.tile_axes import Axis, Level
from tilewright.passes.loop.simplify_accesses import simplify_accesses
from tilewright.passes.share_values import share_values
from tilewright.passes.substitution import Substitution
from tilewright.passes.tile.dealing import Dealing, is_shared
from tilewright.passes.tile.rebind import NewAxis, Rebinding, power_of_two, total_extent
from tilewright.passes.tile.rows import (
    SECTOR,
    are_columns,
    columns_of_row,
    is_contraction,
    row_length,
    scans,
    shares_rows,
)
from tilewright.passes.tile.scheduling_pass import SchedulingPass
from tilewright.passes.trace import Rule

_MANY_COLUMNS = 4096
"""So many fill a GPU by whole warps of them."""


class Sharing(NamedTuple):
    """Who does what of a launch's rows."""

    threads: int
    """Threads that share a row."""
    rows: int
    """Rows that a block does."""
    columns: bool
    """Whether neighbouring threads do neighbouring rows, rather than parts of one."""


@dataclass(frozen=True)
class CooperativeReducePass(SchedulingPass):
    """Share rows among threads."""

    name = "cooperative-reduce"
    RULE: ClassVar[Rule] = Rule("t", 4, "cooperative_reduce")

    threads: int | None = None
    """Threads that share a row; more than a block has, if `register-tile` is to follow."""
    rows: int | None = None
    """Rows that a block does."""
    columns: bool | None = None
    """Whether neighbouring threads do neighbouring rows, rather than parts of one."""
    row: str | None = None
    """`registers`: a thread for each element of the row; `stage`: fewer, in steps."""

    def legal(self, launch: tile.LaunchOp) -> str | None:
        if any(axis.level is not Level.BLOCK for axis in launch.bound_axes()):
            if _statistics(launch):
                return None
            return "its axes are bound already"
        if shares_rows(launch):
            return None
        if scans(launch):
            return "the steps of its scan follow each other: one thread does a row"
        if is_contraction(launch):
            return "it is a contraction: every thread has elements of its own"
        return f"its rows are short: {row_length(launch)} steps"

    def choices(self, launch: tile.LaunchOp) -> Sequence[Self]:
        if _statistics(launch):
            return [type(self)(self.target)]
        guess = _guess(launch)
        whole = -(-row_length(launch) // WARP_SIZE) * WARP_SIZE
        found = [self._choice(guess, "stage")]
        found += [self._choice(g, "stage") for g in _others(guess, launch)]
        found += [self._choice(Sharing(whole, rows, False), "registers") for rows in (1, 2, 4, 8)]
        return [choice for choice in dict.fromkeys(found) if choice.impossible(launch) is None]

    def _choice(self, sharing: Sharing, row: str) -> Self:
        threads, rows, columns = sharing
        return type(self)(self.target, threads, rows, columns or None, row)

    def impossible(self, launch: tile.LaunchOp) -> str | None:
        if self.threads is None and self.rows is None and _statistics(launch):
            return None
        assert self.threads is not None
        assert self.rows is not None
        if self.threads < 1 or self.rows < 1:
            return f"threads={self.threads} rows={self.rows} leaves no thread"
        length = row_length(launch)
        if self.row not in (None, "registers", "stage"):
            return f"row={self.row} is neither 'registers' nor 'stage'"
        if self.row == "registers" and self.threads < length:
            return f"{self.threads} threads have no register for each of {length} elements of a row"
        if self.row != "registers" and self.threads * self.rows > MAX_THREADS > self.threads:
            return (
                f"threads={self.threads} rows={self.rows} is {self.threads * self.rows} "
                f"threads; a block has 1 to {MAX_THREADS}"
            )
        return None

    def rewrite(self, launch: tile.LaunchOp, rewriter: PatternRewriter) -> None:
        kernel = launch.kernel
        if _statistics(launch):
            _share_statistics(launch, rewriter)
        else:
            assert self.threads is not None
            assert self.rows is not None
            _share_rows(launch, Sharing(self.threads, self.rows, self.columns or False))
        simplify_accesses(kernel)
        share_values(kernel)


def _guess(launch: tile.LaunchOp) -> Sharing:
    """
    Eight steps a thread, and blocks of 256 threads; columns by the sector. Where a row is
    multiplied with columns, a thread for each column, and one row, which `stage-inputs` keeps.
    """
    length, rows = row_length(launch), total_extent(launch.bound_axes())
    if are_columns(launch):
        rows = SECTOR if rows < _MANY_COLUMNS else WARP_SIZE
        return Sharing(min(power_of_two(-(-length // 16)), 512 // rows), rows, columns=True)
    if (products := columns_of_row(launch)) > 0:
        return Sharing(min(max(power_of_two(products), WARP_SIZE), 256), 1, columns=False)
    threads = min(max(power_of_two(-(-length // 8)), WARP_SIZE), MAX_THREADS)
    return Sharing(threads, max(1, min(256 // threads, power_of_two(rows))), columns=False)


def _others(guess: Sharing, launch: tile.LaunchOp) -> Iterator[Sharing]:
    """What else could be tried."""
    most = power_of_two(total_extent(launch.bound_axes()))
    for threads in (32, 64, 128, 256, 512, 1024):
        for rows in (1, 2, 4, 8):
            if threads * rows <= MAX_THREADS and rows <= most:
                yield guess._replace(threads=threads, rows=rows)


def _share_rows(launch: tile.LaunchOp, sharing: Sharing) -> None:
    """Bind the axes anew: blocks do rows, threads parts of them."""
    rebinding = Rebinding()
    axes = launch.bound_axes()
    rows = sharing.rows if axes else 1  # without an axis there is one row, and none to mask
    total = total_extent(axes)
    row = rebinding.add(NewAxis("rb", Level.BLOCK, -(-total // rows), Role.ROW))
    shared = NewAxis("t", Level.THREAD, sharing.threads, Role.K)
    thread = rebinding.add(shared) if sharing.columns else None
    if rows > 1:
        row = row * rows + rebinding.add(NewAxis("rw", Level.THREAD, rows, Role.ROW))
    if thread is None:
        thread = rebinding.add(shared)
    rebinding.substitute(axes, row, overruns=total % rows != 0)
    along = rebinding.body.args[thread.position]
    rebinding.finish(launch, Dealing(rebinding.substitution, sharing.threads, along).clone)


def _statistics(launch: tile.LaunchOp) -> list[tuple[loop.ReduceOp, Axis]]:
    """What threads along an axis of columns all reduce alike, and that axis."""
    columns = [a for a in launch.thread_axes() if a.role is Role.N and a.extent > 1]
    if len(columns) != 1:
        return []
    reductions = [op for op in launch.body.block.ops if isinstance(op, loop.ReduceOp)]
    alike = [op for op in reductions if columns[0].value not in varies_along(op, {})]
    return [(op, columns[0]) for op in alike if is_shared(op)]


def _share_statistics(launch: tile.LaunchOp, rewriter: PatternRewriter) -> None:
    for op, axis in _statistics(launch):
        substitution = Substitution()
        dealt: Iterable[Operation] = Dealing(substitution, axis.extent, axis.value).clone(op)
        results = [substitution.value(result) for result in op.results]
        rewriter.replace(op, [*dealt], results)
