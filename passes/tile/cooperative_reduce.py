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

A block does `rows` rows. What does not depend on the shared axis, and a reduction that is shorter
than a warp, is computed by every thread and stored by the first. With `columns=true` the threads of
a warp lie along the rows, not along the shared axis: so they access neighbours where rows are the
columns of a matrix.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Access, Role
from tilewright.dialects.index import delinearize
from tilewright.dialects.kernel import WARP_SIZE
from tilewright.dialects.kernel_like import MAX_THREADS
from tilewright.dialects.tile_axes import Level
from tilewright.passes.substitution import conjunction
from tilewright.passes.tile.rebind import NewAxis, Rebinding, power_of_two, total_extent
from tilewright.passes.tile.rows import (
    SECTOR,
    SHORT_ROW,
    are_columns,
    columns_of_row,
    is_contraction,
    row_length,
    scans,
    shares_rows,
)
from tilewright.passes.trace import Rule, rewriting, skipped

RULE = Rule("t", 4, "cooperative_reduce")

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


def legal(launch: tile.LaunchOp) -> str | None:
    """Why threads cannot share the rows of the launch, or None."""
    if any(axis.level is not Level.BLOCK for axis in launch.bound_axes()):
        return "its axes are bound already"
    if shares_rows(launch):
        return None
    if scans(launch):
        return "the steps of its scan follow each other: one thread does a row"
    if is_contraction(launch):
        return "it is a contraction: every thread has elements of its own"
    return f"its rows are short: {row_length(launch)} steps"


def choices(launch: tile.LaunchOp) -> Sharing:
    """
    The best guess: eight steps a thread, and blocks of 256 threads; columns by the sector. Where a
    row is multiplied with columns, a thread for each column, and one row, which `stage-rows` keeps.
    """
    length, rows = row_length(launch), total_extent(launch.bound_axes())
    if are_columns(launch):
        rows = SECTOR if rows < _MANY_COLUMNS else WARP_SIZE
        return Sharing(min(power_of_two(-(-length // 16)), 512 // rows), rows, columns=True)
    if (products := columns_of_row(launch)) > 0:
        return Sharing(min(max(power_of_two(products), WARP_SIZE), 256), 1, columns=False)
    threads = min(max(power_of_two(-(-length // 8)), WARP_SIZE), MAX_THREADS)
    return Sharing(threads, max(1, min(256 // threads, power_of_two(rows))), columns=False)


def apply(launch: tile.LaunchOp, threads: int, rows: int, columns: bool) -> None:
    """Share each row among `threads` threads, `rows` rows a block."""
    rebinding = Rebinding()
    axes = launch.bound_axes()
    rows = rows if axes else 1  # without an axis there is one row, and none to mask
    total = total_extent(axes)
    row = rebinding.add(NewAxis("rb", Level.BLOCK, -(-total // rows), Role.ROW))
    shared = NewAxis("t", Level.THREAD, threads, Role.K)
    thread = rebinding.add(shared) if columns else None
    if rows > 1:
        row = row * rows + rebinding.add(NewAxis("rw", Level.THREAD, rows, Role.ROW))
    if thread is None:
        thread = rebinding.add(shared)
    rebinding.substitute(axes, row, overruns=total % rows != 0)
    dealer = _Dealer(rebinding, threads, thread)
    rebinding.finish(launch, dealer.clone)


class _Dealer:
    """Clones the ops of a launch's body, their loops dealt out to threads."""

    def __init__(self, rebinding: Rebinding, threads: int, thread: AffineDimExpr):
        self.substitution = rebinding.substitution
        self.threads = threads
        self.thread = rebinding.body.args[thread.position]
        self.is_first = rebinding.access(thread * -1)

    def clone(self, op: Operation) -> Iterable[Operation]:
        """What `op` becomes."""
        dealt = self._deal_out(op)
        for new in dealt:
            new.location = op.location
        return dealt

    def _deal_out(self, op: Operation) -> list[Operation]:
        match op:
            case loop.ReduceOp() if op.axis_extents()[0] >= SHORT_ROW and op.bound is None:
                return self._share_reduce(op)
            case loop.ForOp():
                return [self._share_for(op)]
            case loop.StoreOp():
                return [self._store_once(op)]
            case _:
                return [self.substitution.clone(op)]

    def _share_reduce(self, op: loop.ReduceOp) -> list[Operation]:
        extent = op.axis_extents()[0]
        body, bound = self._deal(op.body.block, [extent])
        terminator = op.yield_op
        body.add_ops(self.substitution.clone(i) for i in op.body.block.ops if i is not terminator)
        masks = [m for m in (self.substitution.mask(terminator), bound) if m is not None]
        values = [self.substitution.value(v) for v in terminator.values]
        body.add_op(loop.YieldOp(values, conjunction(masks)))
        partial = loop.ReduceOp(-(-extent // self.threads), op.monoid, Region(body))
        combine = tile.CombineOp(list(partial.results), [self.thread], op.monoid)
        for old, part, new in zip(op.results, partial.results, combine.results, strict=True):
            part.name_hint = new.name_hint = old.name_hint
            self.substitution.values[old] = new
        return [partial, combine]

    def _share_for(self, op: loop.ForOp) -> Operation:
        extents = list(op.axis_extents())
        body, _ = self._deal(op.body.block, extents)
        body.add_ops(self.substitution.clone(inner) for inner in op.body.block.ops)
        return loop.ForOp([-(-prod(extents) // self.threads)], Region(body), [op.axis_roles()[0]])

    def _deal(self, block: Block, extents: Sequence[int]) -> tuple[Block, Access | None]:
        """
        A body over steps in which `step * threads + thread` stands for the axes of `block`, and
        the bound that holds while that does not overrun.
        """
        body = Block(arg_types=[block.args[0].type])
        body.args[0].name_hint = block.args[0].name_hint
        operands: list[SSAValue] = [body.args[0], self.thread]
        index = AffineExpr.dimension(0) * self.threads + AffineExpr.dimension(1)
        bound: Access | None = None
        if prod(extents) % self.threads:
            bound = ([index * -1 + (prod(extents) - 1)], operands)
        for axis, expr in zip(block.args, delinearize(index, extents), strict=True):
            self.substitution.indices[axis] = (expr, operands)
            if bound is not None:
                self.substitution.bounds[axis] = bound
        return body, bound

    def _store_once(self, op: loop.StoreOp) -> Operation:
        cloned = self.substitution.clone(op)
        assert isinstance(cloned, loop.StoreOp)
        masks = [self.is_first]
        if cloned.mask is not None:
            masks.append((cloned.mask.data.results, cloned.mask_operands))
        subscripts = (cloned.map.data.results, cloned.indices)
        store = loop.StoreOp(cloned.value, cloned.memref, subscripts, conjunction(masks))
        store.location = op.location
        cloned.erase()
        return store


@dataclass(frozen=True)
class CooperativeReducePass(ModulePass):
    """Share rows among threads."""

    name = "cooperative-reduce"

    threads: int | None = None
    """Threads that share a row."""
    rows: int | None = None
    """Rows that a block does."""
    columns: bool | None = None
    """Whether neighbouring threads do neighbouring rows, rather than parts of one."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Each launch of the module."""
        for launch in [inner for inner in op.walk() if isinstance(inner, tile.LaunchOp)]:
            if (reason := legal(launch)) is not None:
                skipped(RULE, launch, reason)
                continue
            threads, rows, columns = self._decide(choices(launch))
            if threads < 1 or rows < 1 or threads * rows > MAX_THREADS:
                raise PassFailedException(
                    f"cooperative-reduce: threads={threads} rows={rows} is {threads * rows} "
                    f"threads; a block has 1 to {MAX_THREADS}"
                )
            kernel = launch.parent_op()
            assert kernel is not None
            with rewriting(RULE, kernel):
                apply(launch, threads, rows, columns)

    def _decide(self, guess: Sharing) -> Sharing:
        """The guess, where the options leave the choice."""
        options = {"threads": self.threads, "rows": self.rows, "columns": self.columns}
        return guess._replace(**{k: v for k, v in options.items() if v is not None})
