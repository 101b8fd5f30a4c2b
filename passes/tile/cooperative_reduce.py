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

With as many threads as a row has elements, there are no loops: each thread loads its element once.
`register-tile` then gives each thread several elements, so that the row stays in registers.
`row=registers` requests this. With `row=stage` fewer threads go along the row in steps.

Few long rows leave most of a GPU idle. With `split=4 join=last_block` four blocks share each row,
and the last block to finish joins their results:

    tile.launch (%s = block 4 split, %i = block 3 row, %t = thread 1024 k) {
      %p = loop.reduce %k in 245 with add { ... %x[%i, %s * 250880 + %k * 1024 + %t] ... }
      %sum = tile.combine %p across %s, %t with add join(last_block) : f32

If more is done to the row once it is reduced, the blocks have to wait for each other. Blocks wait
for each other only with `join=cluster`.

A block handles `rows` rows. Every thread computes the values that do not depend on the shared axis,
and reductions shorter than a warp. The first thread stores these values. With `columns=true` the
threads of a warp lie along the rows, not along the shared axis. The threads then access adjacent
elements if the rows are columns of a matrix.

In a contraction that is already split into blocks and threads, the pass shares the statistics of
each row. An example is the maximum of attention's scores. The threads along the columns share the
steps of these reductions. The steps end at the last one in which the mask of the yield lets any
thread contribute.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, NamedTuple, Self

from xdsl.ir import BlockArgument, Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.utils.arg_spec import ParameterListType

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Role
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.target import WARP_SIZE
from tilewright.dialects.tile import Join, varies_along
from tilewright.dialects.tile.attributes import Axis, Level
from tilewright.passes.facts.block_joins import reason_against_join, reason_not_lowered
from tilewright.passes.reporting.trace import Rule
from tilewright.passes.rewriting.share_values import share_values
from tilewright.passes.rewriting.simplify_accesses import simplify_accesses
from tilewright.passes.rewriting.substitution import Substitution
from tilewright.passes.tile.rebind import NewAxis, Rebinding, total_extent
from tilewright.passes.tile.row_facts import is_contraction, row_length, rows_are_cooperative, scans
from tilewright.passes.tile.scheduling_decision import Questions
from tilewright.passes.tile.scheduling_pass import SchedulingPass
from tilewright.passes.tile.steps_to_threads import Blocks, StepDistribution, is_cooperative

_ROWS_OF_BLOCK = (1, 2, 4, 8, 16, 32)
SPLITS = (2, 4, 8, 16, 32, 64)
"""Numbers of blocks that are offered to share a row."""


class ThreadsPerRow(NamedTuple):
    """Options of `cooperative-reduce`: how many threads and blocks share each row of a launch."""

    threads: int
    """Number of threads of a block that share a row."""
    rows: int
    """Number of rows that a block handles."""
    columns: bool
    """True if neighbouring threads handle neighbouring rows, rather than parts of one row."""
    split: int = 1
    """Number of blocks that share a row."""
    join: Join = Join.LAST_BLOCK
    """Join of the blocks that share a row."""


@dataclass(frozen=True)
class CooperativeReducePass(SchedulingPass, RewritePattern):
    """Share rows among threads, which reduce parts of them and combine."""

    name = "cooperative-reduce"
    RULE: ClassVar[Rule] = Rule("t", 4, "cooperative_reduce")

    threads: int | None = None
    """
    Number of threads of a block that share a row; it may exceed the limit of a block if
    `register-tile` follows.
    """
    rows: int | None = None
    """Number of rows that a block handles."""
    columns: bool | None = None
    """True if neighbouring threads handle neighbouring rows, rather than parts of one row."""
    row: str | None = None
    """
    `registers`: a thread for each element of the row, in all blocks that share it; `stage`: fewer
    threads, in steps.
    """
    split: int | None = None
    """Number of blocks that share a row."""
    join: str | None = None
    """Join of the blocks that share a row: last_block, cluster, workspace or atomic."""

    def reason_against(self, launch: tile.LaunchOp) -> str | None:
        if any(axis.level is not Level.BLOCK for axis in launch.bound_axes()):
            if repeated_statistics(launch):
                return None
            return "its axes are bound already"
        if rows_are_cooperative(launch):
            return None
        if scans(launch):
            return "the steps of its scan depend on each other: one thread does a row"
        if is_contraction(launch):
            return "it is a contraction: every thread has elements of its own"
        return f"its rows are short: {row_length(launch)} steps"

    def questions(self, launch: tile.LaunchOp) -> Questions:
        """
        Return the values of each option that are offered. `threads` is a power of two, or a thread
        for each element of a row.
        """
        if repeated_statistics(launch):
            return {}
        length = row_length(launch)
        whole = -(-length // WARP_SIZE) * WARP_SIZE
        return {
            "threads": sorted({*(1 << n for n in range(11)), whole}),
            "rows": _ROWS_OF_BLOCK,
            "columns": (None, True),
            "row": ("registers", "stage"),
            "split": (None, *(split for split in SPLITS if split <= length)),
            "join": (None, Join.CLUSTER.value, Join.LAST_BLOCK.value),
        }

    def completed(
        self, guess: dict[str, ParameterListType], given: dict[str, ParameterListType]
    ) -> dict[str, ParameterListType]:
        """
        Return all options: the `given` ones, and those of `guess` for the rest. If `threads` is
        given, the guess of `columns` is not used. If `split` is given without a join, blocks join
        by `last_block`, which every target supports.
        """
        rest = {n: v for n, v in guess.items() if n != "columns" or "threads" not in given}
        if "split" in given:
            rest.setdefault("join", (Join.LAST_BLOCK.value,))
        return {**rest, **given}

    def reason_not_possible(self, launch: tile.LaunchOp) -> str | None:
        if repeated_statistics(launch):
            is_open = self == type(self)(self.target)
            bound = "its threads are bound already; to share row statistics, give no options"
            return None if is_open else bound
        assert self.threads is not None
        assert self.rows is not None
        if self.threads < 1 or self.rows < 1:
            return f"threads={self.threads} rows={self.rows}: both are at least 1"
        if self.row not in (None, "registers", "stage"):
            return f"row={self.row} is neither 'registers' nor 'stage'"
        length = row_length(launch)
        threads = self.threads * (self.split or 1)
        if self.row == "registers" and threads < length:
            return f"row=registers needs a thread for each of {length} elements, not {threads}"
        return self._reason_not_split(launch)

    def _reason_not_split(self, launch: tile.LaunchOp) -> str | None:
        """Reason why blocks cannot share a row this way, or None."""
        if self.split is None:
            unused = f"join={self.join} needs several blocks for one row (split)"
            return None if self.join is None else unused
        every = ops_in(launch)
        reductions = [op for op in launch.body.block.ops if isinstance(op, loop.ReduceOp)]
        if not any(map(is_cooperative, reductions)):
            return "split needs a reduction that blocks can share, and the launch has none"
        if not 2 <= self.split <= row_length(launch):
            length = row_length(launch)
            return f"{self.split} blocks for a row of {length}; split is from 2 to {length}"
        if (reason := reason_against_join(self.join, self.split, self.target)) is not None:
            return reason
        if self.join == Join.CLUSTER and not any(isinstance(op, tile.CombineOp) for op in every):
            return None  # reductions become combines that stand in no loop; blocks wait at each
        split = partial(_assign_rows, assigned=self._threads_per_row())
        return reason_not_lowered(launch, split)

    @op_type_rewrite_pattern
    def match_and_rewrite(self, launch: tile.LaunchOp, rewriter: PatternRewriter) -> None:
        kernel = launch.kernel
        if repeated_statistics(launch):
            _deal_statistics(launch, rewriter)
        else:
            _assign_rows(launch, rewriter, self._threads_per_row())
        simplify_accesses(kernel, rewriter)
        share_values(kernel, rewriter)

    def assigned(self, threads_per_row: ThreadsPerRow, row: str) -> Self:
        """Return this pass with the options that `threads_per_row` and `row` describe."""
        threads, rows, columns, split, join = threads_per_row
        choice = replace(self, threads=threads, rows=rows, columns=columns or None, row=row)
        return choice if split == 1 else replace(choice, split=split, join=join.value)

    def _threads_per_row(self) -> ThreadsPerRow:
        assert self.threads is not None
        assert self.rows is not None
        join = Join(self.join or Join.LAST_BLOCK)
        return ThreadsPerRow(self.threads, self.rows, self.columns or False, self.split or 1, join)


def _assign_rows(launch: tile.LaunchOp, rewriter: PatternRewriter, assigned: ThreadsPerRow) -> None:
    """Replace the axes of the launch: blocks handle rows, and threads handle parts of them."""
    rebinding = Rebinding()
    axes = launch.bound_axes()
    rows = assigned.rows if axes else 1  # without an axis there is one row, and none to mask
    total = total_extent(axes)
    if assigned.split > 1:
        rebinding.add(NewAxis("s", Level.BLOCK, assigned.split, Role.SPLIT))
    row = rebinding.add(NewAxis("rb", Level.BLOCK, -(-total // rows), Role.ROW))
    shared = NewAxis("t", Level.THREAD, assigned.threads, Role.K)
    thread = rebinding.add(shared) if assigned.columns else None
    if rows > 1:
        row = row * rows + rebinding.add(NewAxis("rw", Level.THREAD, rows, Role.ROW))
    if thread is None:
        thread = rebinding.add(shared)
    rebinding.substitute(axes, row, overruns=total % rows != 0)
    along = rebinding.body.args[thread.position]
    blocks = None
    if assigned.split > 1:
        blocks = Blocks(rebinding.body.args[0], assigned.split, assigned.join)
    dealing = StepDistribution(rebinding.substitution, assigned.threads, along, blocks)
    rebinding.finish(launch, rewriter, dealing.clone)


def repeated_statistics(launch: tile.LaunchOp) -> list[tuple[loop.ReduceOp, Axis]]:
    """Return the reductions that all threads along the column axis repeat, each with that axis."""
    columns = [a for a in launch.thread_axes() if a.role is Role.N and a.extent > 1]
    if len(columns) != 1:
        return []
    reductions = [op for op in launch.body.block.ops if isinstance(op, loop.ReduceOp)]
    known: dict[Operation, frozenset[BlockArgument]] = {}
    repeated = [op for op in reductions if columns[0].value not in varies_along(op, known)]
    return [(op, columns[0]) for op in repeated if is_cooperative(op)]


def _deal_statistics(launch: tile.LaunchOp, rewriter: PatternRewriter) -> None:
    """
    Share the statistics of rows among the threads along the columns.

        tile.launch (..., %tm = thread 16 m, %tn = thread 16 n) {
          %max = loop.reduce %k in 512 with max { ... %scores[%tm, %k] ... }

    becomes

          %p = loop.reduce %k in 32 with max { ... %scores[%tm, %k * 16 + %tn] ... }
          %max = tile.combine %p across %tn with max : f32
    """
    from tilewright.passes.tile.step_bounds import bound_masked_steps

    for op, axis in repeated_statistics(launch):
        substitution = Substitution()
        dealt = [*StepDistribution(substitution, axis.extent, axis.value).clone(op)]
        results = [substitution.value(result) for result in op.results]
        rewriter.replace(op, dealt, results)
        for part in (part for part in dealt if isinstance(part, loop.ReduceOp)):
            bound_masked_steps(part, rewriter)
